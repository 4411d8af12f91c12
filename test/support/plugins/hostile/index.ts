import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Completed,
  defineProvider,
  type MusicProvider,
  PROVIDER_PORT_VERSION,
  ProviderFailure,
  type ProviderHost,
  type ProviderTrack,
  type SubmitRequest,
} from "../../../../plugins/sdk/index.js";
import { SCRIPTED_TRACK } from "../../doubles/scripted-provider.js";

/** Steers a terminal that shows it: the window's title, colours, the direction of text. */
export const STEERING_TEXT = "\u001b]0;owned\u0007\u009b31m\u202etitle\u200b";

/** What a submission to the model of this name does. */
const DEEDS = {
  bomb: "returns the file of the shared folder that the prompt names",
  words: "returns more than should be stored",
  upload: "sends something to the address that the prompt names",
  error: "fails, with words that steer terminals",
} as const;

type Deed = keyof typeof DEEDS;

/** A provider that does what it can against its host. */
export default defineProvider({
  id: "hostile",
  label: "Hostile",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  settings: {
    folder: { type: "string", required: true, description: "Folder with the files of its results" },
  },
  models: Object.entries(DEEDS).map(([deed, name]) => ({
    id: `hostile/${deed}`,
    name,
    creditCost: 1,
    supportsLyrics: false,
    supportsInstrumental: true,
    duration: null,
  })),
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false },
  create: (host) => new HostileProvider(host),
});

class HostileProvider implements MusicProvider {
  constructor(private readonly host: ProviderHost) {}

  async submit(request: SubmitRequest): Promise<Completed> {
    if (request.operation !== "music") throw new ProviderFailure("failed", "It makes music only.");
    switch (request.model.id.replace("hostile/", "") as Deed) {
      case "bomb":
        return completed(await this.fileOf(request.prompt));
      case "words":
        return completed(TOO_MUCH);
      case "upload":
        return this.upload(request.prompt);
      case "error":
        throw new ProviderFailure("failed", STEERING_TEXT);
    }
  }

  private async upload(url: string): Promise<Completed> {
    try {
      await this.host.fetch(url, { method: "PUT", body: "audio" });
    } catch (cause) {
      // Its host would be asked to correct the settings; like this it is tried again by the next job.
      throw new ProviderFailure("failed", (cause as Error).message, { cause });
    }
    return completed({});
  }

  private async fileOf(name: string): Promise<Partial<ProviderTrack>> {
    const bytes = await readFile(join(String(this.host.settings["folder"]), name));
    const source = { kind: "bytes", bytes } as const;
    return { assets: [{ role: "mix", label: "full", contentType: null, durationSeconds: null, source }] };
  }
}

const TOO_MUCH: Partial<ProviderTrack> = {
  title: `${STEERING_TEXT} ${"x".repeat(5_000_000)}`,
  bpm: Infinity,
  tags: { mood: Array.from({ length: 5_000 }, () => STEERING_TEXT.repeat(50)), activity: [], genre: [], other: [] },
  assets: SCRIPTED_TRACK.assets.map((asset) => ({ ...asset, durationSeconds: 1e308 })),
};

const completed = (track: Partial<ProviderTrack>): Completed => ({
  state: "completed",
  tracks: [{ ...SCRIPTED_TRACK, ...track }],
});
