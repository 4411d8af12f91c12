import { expect } from "chai";
import type { TrackId } from "../../core/ids.js";
import { ProviderFailure } from "../../plugins/sdk/index.js";
import { dataOf } from "../support/api-client.js";
import { Canary } from "../support/canary.js";
import { SCRIPTED_TRACK, submitAccepts, type SubmitBehaviour } from "../support/doubles/scripted-provider.js";
import { UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

interface Generation {
  readonly status: string;
  readonly credits_charged: number;
  readonly tracks: readonly { readonly id: TrackId; readonly title: string; readonly play_url: string }[];
}

const SECRET = "sk-of-the-operator-0123456789";

/** API10:2023, https://owasp.org/API-Security/editions/2023/en/0xaa-unsafe-consumption-of-apis/ */
describe("What a provider says (OWASP API10)", () => {
  let test: TestApp;
  let caller: TestAccount;
  let canary: Canary;
  beforeEach(async () => {
    canary = await Canary.open();
    test = await startTestApp({ ...UNHEARD, work: true, settings: { jobs: { confirmSeconds: 0.2 } } });
    caller = await test.account();
  });
  afterEach(async () => {
    await test.close();
    await canary.close();
  });

  async function generate(behaviour: SubmitBehaviour): Promise<{ readonly shown: Generation; readonly text: string }> {
    test.provider.behaviour = behaviour;
    const { id } = dataOf<{ id: string }>(await caller.api.generate());
    await test.app.generations.wait(id);
    const [generation, job] = await Promise.all([
      caller.api.get(`/api/v1/generations/${id}`),
      caller.api.get(`/api/v1/jobs/${id}`),
    ]);
    return { shown: dataOf(generation), text: `${generation.text}\n${job.text}` };
  }

  it("never becomes code or mark-up of a page", async () => {
    const hostile = `</title><script src=//evil.example></script><img src=x onerror=alert(1)>"' {{7*7}} \${7*7}`;
    const { shown } = await generate(async () => ({
      state: "completed",
      tracks: [{ ...SCRIPTED_TRACK, title: hostile, lyrics: { text: hostile } }],
    }));
    const { shareToken } = await test.app.library.manage.share(shown.tracks[0]?.id as TrackId);
    const page = await (await fetch(`${test.url}/share/${shareToken}`)).text();
    expect(page).not.to.match(/<script src=\/\/evil|<img src=x|onerror=alert\(1\)>/);
    expect(page).to.include("&lt;script src=//evil.example&gt;");
  });

  it("is never handed on as a link: what is played comes from this server", async () => {
    const { shown, text } = await generate(async () => ({ state: "completed", tracks: [SCRIPTED_TRACK] }));
    expect(shown.status).to.equal("completed");
    for (const [, link] of text.matchAll(/"(?:play_url|share_url|thumbnail_url|preview_audio_url|url)":"([^"]+)"/g))
      expect(new URL(link ?? "").origin).to.equal(test.url);
  });

  it("leads to no address inside: such a result is refused, and costs nothing", async () => {
    for (const url of [
      `http://127.0.0.1:${canary.port}/a.mp3`,
      "https://169.254.169.254/latest/",
      "file:///etc/passwd",
    ]) {
      const source = { kind: "url" as const, url };
      const mix = { role: "mix" as const, label: "full", contentType: null, durationSeconds: null, source };
      const { shown, text } = await generate(async () => ({
        state: "completed",
        tracks: [{ ...SCRIPTED_TRACK, assets: [mix] }],
      }));
      expect([shown.status, shown.credits_charged], url).to.deep.equal(["failed", 0]);
      expect(text).not.to.include("169.254").and.not.include("/etc/passwd");
    }
    expect(canary.connections).to.equal(0);
  });

  it("is no reason of a failure that a caller sees word for word", async () => {
    const { shown, text } = await generate(() => {
      throw new ProviderFailure("content_rejected", `401 for ${SECRET} at https://vendor.internal/v1 <b>no</b>`);
    });
    expect(shown.status).to.equal("failed");
    expect(text).not.to.include(SECRET).and.not.include("vendor.internal").and.not.include("<b>");
  });

  it("ends nothing when it is said by someone else: a forged callback changes no job", async () => {
    test.provider.behaviour = submitAccepts(60_000);
    const { id } = dataOf<{ id: string }>(await caller.api.generate());
    await test.provider.submitted();
    for (const path of [
      `/callbacks/scripted/${id}/`,
      `/callbacks/scripted/${id}/${"0".repeat(43)}`,
      `/callbacks/synth/${id}/x`,
    ]) {
      const { status } = await test.anonymous.send("POST", path, {
        headers: { "Content-Type": "application/json" },
        body: { status: "completed", url: `http://127.0.0.1:${canary.port}/` },
      });
      expect(status, path).to.be.within(400, 404);
    }
    expect(dataOf<Generation>(await caller.api.get(`/api/v1/generations/${id}`)).status).to.be.oneOf([
      "queued",
      "processing",
    ]);
    expect(canary.connections).to.equal(0);
  });
});
