import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { Sandbox } from "../../support/process.js";
import { SILENCE_WAV } from "../../support/library-fixture.js";

interface Shown {
  readonly id: string;
  readonly [name: string]: unknown;
}

describe("fermata generations", function () {
  this.timeout(120_000);
  const sandbox = new Sandbox();
  let dataDir: string;
  let account: string;
  before(async () => {
    dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const create = ["accounts", "create", "alice", "--tier", "pro", "--accept-terms", "--credits", "40"];
    account = (await json<Shown>(...create)).id;
  });
  after(() => sandbox.clear());

  const json = <T>(...args: readonly string[]): Promise<T> => sandbox.json<T>(args, dataDir);
  const create = (...args: readonly string[]): ReturnType<Sandbox["command"]> =>
    sandbox.command(
      ["generations", "create", "synth/instrumental", "calm rain", "--account", account, ...args],
      dataDir,
    );

  it("creates one with options, paid by the account, and shows them with the job", async () => {
    const { code, stdout, stderr } = await create(
      "--duration",
      "5",
      "--option",
      "seed=42",
      "--option",
      "key=F# minor",
      "--json",
    );
    expect([code, stderr]).to.deep.equal([0, ""]);
    const created = JSON.parse(stdout) as Shown;
    const options = { seed: 42, key: "F# minor" };
    expect(created).to.deep.include({
      id: created["job_id"],
      operation: "music_synth_full",
      status: "queued",
      credits_charged: 10,
      options,
    });
    expect(await json<Shown>("jobs", "show", created.id)).to.deep.include({ options });
    expect((await sandbox.command(["jobs", "show", created.id], dataDir)).stdout).to.match(
      /option seed +42\n *option key +F# minor\n/,
    );
    const [record] = (await json<{ records: readonly Shown[] }>("audit", "list", "--limit", "1")).records;
    expect(record).to.deep.include({ action: "generations.create", account, targets: [created.id] });
    expect(record?.["fields"]).to.deep.equal({ model: "synth/instrumental", credits: 10 });
  });

  it("takes a track to work from, and refuses one that the model cannot go on from", async () => {
    const file = join(await sandbox.dataDir(), "hum.wav");
    await writeFile(file, SILENCE_WAV);
    const track = await json<Shown>("library", "upload", file, "--account", account);
    const refused = await create("--track", track.id, "--mode", "extend");
    expect([refused.code, refused.stdout]).to.deep.equal([1, ""]);
    expect(refused.stderr).to.include("body.reference.track_id must be a track that Fermata Synth made");
    expect((await create("--track", track.id)).stderr).to.include("body.reference.mode must be one of extend, cover");
  });

  it("is refused what the API refuses, in the same words, and nothing is charged", async () => {
    const before = await json("credits", "show", account);
    for (const [args, says] of [
      [["--option", "seed=-1"], "body.options.seed must be a whole number from 0 to 4294967295 for synth/instrumental"],
      [
        ["--option", "seed=many"],
        "body.options.seed must be a whole number from 0 to 4294967295 for synth/instrumental",
      ],
      [["--option", "sed=1"], "body.options.sed is not a known option; allowed for synth/instrumental: seed, bpm, key"],
      [["--lyrics", "la"], "body.lyrics are not supported by synth/instrumental"],
    ] as const) {
      const { code, stderr } = await create(...args);
      expect([code, stderr]).to.deep.equal([1, `The request is not valid: ${says}.\n`]);
    }
    expect(await json("credits", "show", account)).to.deep.equal(before);
  });

  it("says how options are written", async () => {
    for (const [args, says] of [
      [["--option", "seed"], "Allowed: name=value, such as seed=42."],
      [["--option", "=1"], "Allowed: name=value, such as seed=42."],
      [["--option", "seed=1", "--option", "seed=2"], "seed is given twice."],
    ] as const) {
      const { code, stderr } = await create(...args);
      expect(code).to.equal(2);
      expect(stderr).to.include(says);
    }
  });

  it("lists the options of each model", async () => {
    const { models } = await json<{ models: readonly Shown[] }>("models", "list");
    const names = models.map(({ id, options }) => [
      id,
      (options as readonly { name: string }[]).map(({ name }) => name),
    ]);
    expect(names).to.deep.include(["synth/song", ["seed", "bpm", "key"]]);
  });
});
