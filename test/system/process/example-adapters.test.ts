import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@redis/client";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { exampleAdapters } from "../../support/example-adapters.js";
import { ended } from "../../support/installed-package.js";
import { FermataProcess } from "../../support/process.js";
import { startPrivateRedis } from "../../support/redis.js";

/** How many entries a stream holds. */
async function lengthOf(url: string, stream: string): Promise<number> {
  const client = await createClient({ url }).connect();
  try {
    return await client.xLen(stream);
  } finally {
    client.destroy();
  }
}

describe("An installation on the examples of adapters", function () {
  this.timeout(120_000);

  it("of two processes: the queue wakes the worker, and the bytes come from the server", async () => {
    const [app, redis] = await Promise.all([exampleAdapters(), startPrivateRedis()]);
    const server = await app.startAudioServer();
    const env = {
      FERMATA_DATA_DIR: join(app.folder, "data"),
      FERMATA_HTTP__PORT: "0",
      FERMATA_LOGS__LEVEL: "warn",
      FERMATA_METRICS__ENABLED: "false",
      FERMATA_DEMO__ENABLED: "false",
      // Only a notification wakes the worker before the test gives up.
      FERMATA_JOBS__SWEEP_MS: "60000",
      FERMATA_QUEUE__USE: "./redis-streams-queue/queue.js",
      FERMATA_QUEUE__URL: `${redis.url}/2`,
      FERMATA_QUEUE__OPTIONS__PREFIX: "music",
      FERMATA_AUDIO__USE: "./http-put-audio/audio.js",
      FERMATA_AUDIO__URL: server.url,
      FERMATA_AUDIO__OPTIONS__TOKEN: server.token,
    };
    const main = join(app.installed.path, "dist", "config", "main.js");
    const json = async <T>(...args: readonly string[]): Promise<T> => {
      const { code, output } = await ended([main, ...args, "--json"], app.folder, env);
      expect(code, output).to.equal(0);
      return JSON.parse(output) as T;
    };
    await json("migrate");
    const create = ["accounts", "create", "alice", "--tier", "pro", "--accept-terms", "--credits", "100"];
    const { id: account } = await json<{ id: string }>(...create);
    const { key } = await json<{ key: string }>("keys", "issue", account);
    const processes = ["serve", "work"].map((command) => new FermataProcess([command], env, app.folder, main));
    const [serve, work] = processes as [FermataProcess, FermataProcess];
    try {
      const [url] = await Promise.all([serve.listening(), work.line(/^working$/m)]);
      const api = new ApiClient(url, key);
      const input = { model_id: "synth/instrumental", prompt: "rain", duration: 5 };
      const { id } = dataOf<{ id: string }>(await api.generate(input, { Prefer: "wait=40" }));
      const { status, tracks } = dataOf<{ status: string; tracks: readonly { play_url: string }[] }>(
        await api.get(`/api/v1/generations/${id}`),
      );
      expect(status).to.equal("completed");
      const played = await fetch(tracks[0]?.play_url ?? "");
      expect(played.headers.get("content-type")).to.match(/^audio\//);
      const bytes = Buffer.from(await played.arrayBuffer());
      expect(bytes.byteLength).to.be.above(10_000);
      const names = await readdir(server.files, { recursive: true });
      const ours = names.filter((name) => name.startsWith(`${id}/`) && name.includes("."));
      const stored = await Promise.all(ours.map((name) => readFile(join(server.files, name))));
      expect(stored.some((file) => file.equals(bytes))).to.equal(true);
      expect(await lengthOf(`${redis.url}/2`, "music:jobs:synth")).to.equal(1);
      const { output } = await ended([main, "doctor"], app.folder, env);
      expect(output).to.include("Redis evicts no stream.").and.to.include("It stores, reads, lists and deletes.");
      expect(await Promise.all(processes.map((one) => one.stop()))).to.deep.equal([0, 0]);
    } finally {
      for (const one of processes) if (!one.hasExited) await one.kill();
      await Promise.all([redis.remove(), server.stop()]);
    }
  });
});
