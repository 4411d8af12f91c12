import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { dataOf } from "../../support/api-client.js";
import {
  type AttackedInstallation,
  attackedInstallation,
  hostileProvider,
  measured,
  sized,
} from "../../support/attack/index.js";
import { flacBomb, mp3Bomb, opusBomb, wavOfEmptyChunks } from "../../support/audio-bombs.js";
import { Canary } from "../../support/canary.js";
import { eventually, Sandbox } from "../../support/process.js";

const MIB = 1024 * 1024;
/** Every control and format character, except line breaks. */
const STEERING = /(?!\n)[\p{Cc}\p{Cf}]/u;

/** Files of a few kilobytes that decompress to gigabytes, or block a decoder for a very long time. */
const BOMBS: Readonly<Record<string, () => Uint8Array>> = {
  flac: () => flacBomb(495),
  opus: () => opusBomb(sized(6_400, 100_000)),
  mp3: () => mp3Bomb(sized(2_000, 50_000)),
  wav: () => wavOfEmptyChunks(sized(50_000, 2_000_000)),
};

interface Job {
  readonly id: string;
  readonly status: string;
  readonly credits_charged: number;
  readonly tracks: readonly { readonly id: string; readonly title: string; readonly duration: number | null }[];
}

describe("A hostile provider", function () {
  this.timeout(240_000);
  const sandbox = new Sandbox();
  let neighbour: Canary;
  let attacked: AttackedInstallation;
  before(async () => {
    neighbour = await Canary.open();
    const folder = await sandbox.dataDir();
    for (const [name, bomb] of Object.entries(BOMBS)) await writeFile(join(folder, name), bomb());
    attacked = await attackedInstallation(sandbox, {
      ...hostileProvider(folder),
      FERMATA_LOGS__FORMAT: "pretty",
      FERMATA_LOGS__LEVEL: "debug",
      FERMATA_JOBS__MAX_ATTEMPTS: "1",
      FERMATA_TIERS__PRO__MAX_CONCURRENT: "1000",
      FERMATA_BREAKER__FAILURES: "1000",
      FERMATA_RATE_LIMITS__GENERATION__PER_MINUTE: "1000",
      FERMATA_RATE_LIMITS__READ__PER_MINUTE: "100000",
    });
  });
  after(async () => {
    await sandbox.clear();
    await neighbour.close();
  });

  /** Creates a job for each of the prompts at once. @returns the ended jobs */
  async function generate(deed: string, prompts: readonly string[]): Promise<Job[]> {
    const { api } = attacked;
    return Promise.all(
      prompts.map(async (prompt) => {
        const body = { model_id: `hostile/${deed}`, prompt };
        const { id } = dataOf<{ id: string }>(await api.generate(body, { Prefer: "wait=30" }));
        const ask = async (): Promise<Job> => dataOf<Job>(await api.get(`/api/v1/generations/${id}`));
        return eventually(
          `the end of ${id}`,
          async () => {
            const job = await ask();
            return ["completed", "failed"].includes(job.status) && job;
          },
          120_000,
        );
      }),
    );
  }

  it("has its decompression bombs stored without derived assets, and delays no other job", async () => {
    const prompts = Array.from({ length: sized(1, 4) }, () => Object.keys(BOMBS)).flat();
    const { result, figures } = await measured("decoder bombs", attacked.target, () => generate("bomb", prompts));
    expect(result.map(({ status, credits_charged: charged }) => [status, charged])).to.deep.equal(
      prompts.map(() => ["completed", 1]),
    );
    expect(figures.rssPeakBytes - figures.rssBeforeBytes).to.be.below(250 * MIB);
  });

  it("has oversized lyrics and invalid times truncated, and its jobs completed", async () => {
    const prompts = Array.from({ length: sized(2, 40) }, (_, index) => `words ${index}`);
    const { result } = await measured("words", attacked.target, () => generate("words", prompts));
    for (const { status, tracks } of result) {
      expect([status, tracks[0]?.duration]).to.deep.equal(["completed", null]);
      expect(tracks[0]?.title).to.have.length.at.most(200);
      expect(tracks[0]?.title).to.not.match(STEERING);
    }
  });

  it("cannot send a request to another host of the network", async () => {
    const url = `http://127.0.0.1:${neighbour.port}/bucket`;
    const prompts = Array.from({ length: sized(2, 40) }, (_, index) => `${url}/${index}`);
    const { result } = await measured("uploads to 127.0.0.1", attacked.target, () => generate("upload", prompts));
    expect(new Set(result.map(({ status }) => status))).to.deep.equal(new Set(["failed"]));
    expect(neighbour.connections).to.equal(0);
  });

  it("cannot write escape sequences to the terminals of operators, by the log or by command output", async () => {
    const prompts = Array.from({ length: sized(2, 40) }, () => "\u001b[2Jrain\u202e");
    const { result } = await measured("escapes", attacked.target, () => generate("error", prompts));
    expect(new Set(result.map(({ status }) => status))).to.deep.equal(new Set(["failed"]));
    expect(attacked.written()).to.include("owned").and.not.match(STEERING);
    const [id = ""] = result.map((job) => job.id);
    const { stdout } = await sandbox.command(["jobs", "show", id], attacked.dataDir);
    expect(stdout).to.include("owned").and.not.match(STEERING);
  });
});
