import { expect } from "chai";
import { zipSync } from "fflate";
import type { AssetSource } from "../../core/ports/music-provider.js";
import { dataOf } from "../support/api-client.js";
import { SCRIPTED_AUDIO, SCRIPTED_TRACK } from "../support/doubles/scripted-provider.js";
import { responding, cutting, FileHost, serving } from "../support/file-host.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

interface Generation {
  readonly status: string;
  readonly credits_charged: number;
  readonly tracks: readonly { readonly play_url: string }[];
}

describe("A generation whose provider delivers by URL", () => {
  let host: FileHost;
  let test: TestApp;
  beforeEach(async () => {
    host = await FileHost.open();
    const jobs = { confirmSeconds: 0.2 };
    test = await startTestApp({
      work: true,
      settings: { jobs, webhooks: { allowNetworks: ["127.0.0.0/8"], allowHttp: true } },
    });
  });
  afterEach(async () => {
    await test.close();
    await host.close();
  });

  async function generate(app: TestApp, source: AssetSource): Promise<Generation> {
    const mix = { role: "mix" as const, label: "full", contentType: null, durationSeconds: null, source };
    app.provider.behaviour = async () => ({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets: [mix] }] });
    const { api } = await app.account();
    const { id } = dataOf<{ readonly id: string }>(await api.generate(undefined, { Prefer: "wait=20" }));
    return dataOf<Generation>(await api.get(`/api/v1/generations/${id}`));
  }

  it("serves the downloaded file from its own storage, not from the provider", async () => {
    const sources: readonly AssetSource[] = [
      { kind: "url", url: host.on("/song", serving(SCRIPTED_AUDIO)) },
      {
        kind: "url",
        url: host.on("/broken", cutting(SCRIPTED_AUDIO, [400], { "Accept-Ranges": "bytes", ETag: '"1"' })),
      },
      {
        kind: "archive",
        archive: { kind: "url", url: host.on("/zip", serving(zipSync({ "song.mp3": SCRIPTED_AUDIO }))) },
        entry: "song.mp3",
      },
    ];
    for (const source of sources) {
      const { status, tracks } = await generate(test, source);
      expect(status).to.equal("completed");
      const bytes = Buffer.from(await (await fetch(tracks[0]?.play_url ?? "")).arrayBuffer());
      expect(bytes.equals(SCRIPTED_AUDIO)).to.equal(true);
    }
  });

  it("downloads again when the first download fails", async () => {
    const url = host.on("/song", responding(503), serving(SCRIPTED_AUDIO));
    expect(await generate(test, { kind: "url", url })).to.include({ status: "completed" });
    expect(host.requests).to.have.lengthOf(2);
  });

  it("fails without a charge when the provider has deleted the file", async () => {
    expect(await generate(test, { kind: "url", url: host.url("/gone") })).to.include({
      status: "failed",
      credits_charged: 0,
    });
  });

  it("fails without a request when the address is not public and not allowed by the operator", async () => {
    const strict = await startTestApp({ work: true, settings: { jobs: { confirmSeconds: 0.2 } } });
    try {
      expect(await generate(strict, { kind: "url", url: host.on("/song", serving(SCRIPTED_AUDIO)) })).to.include({
        status: "failed",
        credits_charged: 0,
      });
      expect(host.requests).to.have.lengthOf(0);
    } finally {
      await strict.close();
    }
  });
});
