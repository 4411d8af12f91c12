import { expect } from "chai";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type { Completed, MusicProvider, ProviderHost } from "../../core/ports/music-provider.js";
import definition from "../../plugins/elevenlabs/index.js";
import {
  aSource,
  aSplitRequest,
  bytes,
  FakeApi,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
  tinyZip,
} from "../support/provider-kit/index.js";
import { API_KEY, SEPARATE, SUBSCRIPTION, subscription } from "./elevenlabs-support.js";

const { signal } = new AbortController();

describe("elevenlabs", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
  });
  afterEach(() => fake.close());

  const open = (settings: ProviderHost["settings"] = {}): MusicProvider =>
    definition.create(
      providerHost({ settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: fake.url, ...settings }) }),
    );
  const failureOf = async (promise: Promise<unknown>): Promise<ProviderFailure> => {
    const result = await promise.catch((error: unknown) => error);
    if (!ProviderFailure.is(result)) throw new Error(`Expected a failure, and got ${JSON.stringify(result)}`);
    return result;
  };

  describe("stems", () => {
    const split = async (
      operation: "stem_split" | "vocal_removal",
      files: Record<string, Uint8Array>,
    ): Promise<Completed> => {
      fake.on("POST", SEPARATE.path, bytes(tinyZip(files), "application/zip"));
      return (await open().submit(aSplitRequest(operation, aSource()), { signal })) as Completed;
    };
    const labelsOf = async (operation: "stem_split" | "vocal_removal", names: readonly string[]): Promise<string[]> => {
      const { stems = [] } = await split(operation, Object.fromEntries(names.map((name) => [name, tinyMp3(name)])));
      return stems.map(({ label }) => label).sort();
    };

    it("are called by a word of the file's name; unknown names stay, other files are left out", async () => {
      const known = ["a/Song_Vocals.mp3", "a/Drum.mp3", "a/guitars-1.mp3", "b/Drums.mp3"];
      const labels = await labelsOf("stem_split", [...known, "a/Strings Pad.mp3", "a/02.mp3", "a/info.json"]);
      expect(labels).to.deep.equal(["drums", "drums_2", "guitar", "stem_02", "strings_pad", "vocals"]);
    });

    it("of a vocal removal are the vocals and the rest, whatever the rest is called", async () => {
      for (const rest of ["no_vocals.mp3", "other.mp3"]) {
        expect(await labelsOf("vocal_removal", ["vocals.mp3", rest])).to.deep.equal(["instrumental", "vocals"]);
      }
      const failure = await failureOf(labelsOf("vocal_removal", ["voice.mp3", "rest.mp3"]));
      const message = "The response has voice, rest: there is no instrumental and no vocals.";
      expect(failure).to.include({ kind: "failed", message });
    });

    it("are asked for with a form: file and variation", async () => {
      await split("stem_split", { "vocals.mp3": tinyMp3() });
      const [call] = fake.calls(SEPARATE);
      expect(call?.fields.map(({ name }) => name)).to.deep.equal(["file", "stem_variation_id"]);
      expect(call?.field("file")).to.include({ filename: "track.mp3", contentType: "audio/mpeg" });
      expect(call?.query).to.deep.equal({});
    });

    it("come in the kind of file that the settings name, at 44.1 kHz", async () => {
      fake.on("POST", SEPARATE.path, bytes(tinyZip({ "vocals.mp3": tinyMp3() }), "application/zip"));
      for (const outputFormat of ["mp3_44100_96", "mp3_48000_128", "mp3_48000_320"])
        await open({ outputFormat }).submit(aSplitRequest("stem_split", aSource()), { signal });
      expect(fake.calls(SEPARATE).map(({ query }) => query["output_format"])).to.deep.equal([
        "mp3_44100_96",
        "mp3_44100_128",
        "mp3_44100_192",
      ]);
    });

    it("are none in an archive that is empty or too full, not asked for where the track cannot be read", async () => {
      expect((await failureOf(split("stem_split", {}))).kind).to.equal("outcome_unknown");
      const flood = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`${index}.mp3`, tinyMp3()]));
      expect((await failureOf(split("stem_split", flood))).message).to.include("no archive of stems");
      const source = aSource({
        open: () => {
          throw new Error("the disk is gone");
        },
      });
      const failure = await failureOf(open().submit(aSplitRequest("stem_split", source), { signal }));
      expect([failure.kind, fake.calls(SEPARATE).length]).to.deep.equal(["unavailable", 2]);
    });
  });

  describe("a probe", () => {
    const probed = async (response: ReturnType<typeof subscription>): Promise<unknown> => {
      fake.on("GET", SUBSCRIPTION.path, response);
      return open().probe?.({ signal });
    };

    it("warns of a plan that makes no music", async () => {
      const credit = { amount: 0, unit: "credits" };
      const spent = { character_count: 10_001, character_limit: 10_000 };
      expect(await probed(subscription({ ...spent, tier: "free", status: "past_due" }))).to.deep.equal({
        credit,
        warnings: [
          "No credits are left in this billing period.",
          "The plan is free: the music API needs a paid one.",
          "The subscription is past_due.",
        ],
      });
      expect(await probed(subscription({ character_limit: undefined }))).to.deep.equal({ credit: null, warnings: [] });
    });

    it("takes a key that may not read the account for one that works", async () => {
      const message = "The API key you used is missing the permission user_read to execute this operation.";
      const response = json({ detail: { status: "missing_permissions", message } }, { status: 401 });
      const { credit, warnings } = (await probed(response)) as { credit: unknown; warnings: string[] };
      expect(credit).to.equal(null);
      expect(warnings.join()).to.include("user_read");
    });
  });
});
