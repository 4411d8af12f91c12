import { Worker } from "node:worker_threads";
import { expect } from "chai";
import type { RenderSpec } from "../../plugins/synth/job-spec.js";
import { RenderPool } from "../../plugins/synth/render-pool.js";
import { failureOf } from "./synth-support.js";

/** Stands in for the renderer: its response depends on the prompt. */
const SCRIPT = `
const { parentPort } = require("node:worker_threads");
let running = 0;
parentPort.on("message", ({ prompt }) => {
  running += 1;
  if (prompt === "crash") throw new Error("out of tune");
  if (prompt === "exit") process.exit(3);
  if (prompt === "hang") return;
  const result = { title: prompt + running, bpm: 1, tags: {}, assets: [] };
  const report = prompt === "broken" ? { kind: "failed", error: "cannot render" } : { result };
  running -= 1;
  parentPort.postMessage(report);
});`;

const aSpec = (prompt: string): RenderSpec => ({
  kind: "render",
  prompt,
  lyrics: null,
  seconds: 5,
  sung: false,
  keepMaster: true,
  keepStems: false,
});
const never = new AbortController().signal;

describe("synth render pool", () => {
  let started: number;
  let pool: RenderPool;

  beforeEach(() => {
    started = 0;
    pool = new RenderPool(2, () => {
      started += 1;
      return new Worker(SCRIPT, { eval: true });
    });
  });
  afterEach(() => pool.close());

  it("starts no thread before there is work, and never more than it may", async () => {
    expect(started).to.equal(0);
    const titles = await Promise.all(Array.from({ length: 8 }, (_, index) => pool.run(aSpec(`${index} `), never)));
    expect(started).to.equal(2);
    expect(titles.map(({ title }) => title)).to.deep.equal(Array.from({ length: 8 }, (_, index) => `${index} 1`));
  });

  it("fails the order of a thread that crashes or exits, and replaces the thread", async () => {
    for (const prompt of ["crash", "exit"]) {
      expect((await failureOf(pool.run(aSpec(prompt), never))).kind).to.equal("unavailable");
      expect((await pool.run(aSpec("fine "), never)).title).to.equal("fine 1");
    }
  });

  it("fails for good what the renderer cannot do, and keeps the thread", async () => {
    const failure = await failureOf(pool.run(aSpec("broken"), never));
    expect([failure.kind, failure.message]).to.deep.equal(["failed", "cannot render"]);
    await pool.run(aSpec("fine "), never);
    expect(started).to.equal(1);
  });

  it("stops the thread of an aborted order and gives its place to the next", async () => {
    const abort = new AbortController();
    const hanging = [1, 2].map(() => failureOf(pool.run(aSpec("hang"), abort.signal)));
    const waiting = pool.run(aSpec("fine "), never);
    abort.abort();
    for (const failure of await Promise.all(hanging)) expect(failure.kind).to.equal("unavailable");
    expect((await waiting).title).to.equal("fine 1");
  });

  it("rejects what runs and what waits when it is closed", async () => {
    const work = ["hang", "hang", "fine"].map((prompt) => failureOf(pool.run(aSpec(prompt), never)));
    await pool.close();
    for (const failure of await Promise.all(work)) expect(failure.kind).to.equal("unavailable");
    expect((await failureOf(pool.run(aSpec("fine"), never))).kind).to.equal("unavailable");
  });
});
