import { Writable } from "node:stream";
import { expect } from "chai";
import { type AcceptedJob, CallerApiError, type CallerJob } from "../../../adapters/cli/caller/caller-api.js";
import type { Ask, CallerHost, CallerServer } from "../../../adapters/cli/caller/caller-host.js";
import type { CliHost } from "../../../adapters/cli/host.js";
import { runCli } from "../../../adapters/cli/program.js";
import { A_MODEL, CallerApiDouble, COMPLETED } from "../../support/caller-api-double.js";
import { callerDouble } from "../../support/command-line.js";

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const ENV = { FERMATA_URL: "https://music.example/", FERMATA_API_KEY: "frm_secret" };
const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

describe("Commands for callers", () => {
  let api: CallerApiDouble;
  let servers: CallerServer[];
  /** Sends a signal to the command. */
  let interrupt: (signal?: "SIGINT" | "SIGTERM") => void;

  beforeEach(() => {
    api = new CallerApiDouble();
    servers = [];
    interrupt = () => expect.fail("no command listens for signals");
  });

  async function run(args: readonly string[], given: Partial<CallerHost> = {}, isTTY = false): Promise<Ended> {
    const written = { stdout: "", stderr: "" };
    const collector = (stream: keyof typeof written): Writable =>
      new Writable({ write: (chunk: Buffer, _encoding, done) => ((written[stream] += chunk.toString()), done()) });
    const caller = callerDouble({
      env: ENV,
      connect: async (server) => (servers.push(server), api),
      onInterrupt: (listener) => {
        interrupt = (signal = "SIGINT") => listener(signal);
        return () => undefined;
      },
      ...given,
    });
    const host = {
      ...{ version: "1", invocation: "npx fermata-music", root: "/", confirm: null, caller },
      ...{ stdout: collector("stdout"), stderr: Object.assign(collector("stderr"), { isTTY }) },
    } as Partial<CliHost> as CliHost;
    return { code: await runCli(args, host, () => null), ...written };
  }

  /** The error that `--json` writes on stderr. */
  const errorIn = ({ stderr }: Ended): { code: string; message: string; details?: object } =>
    (JSON.parse(stderr) as { error: { code: string; message: string; details?: object } }).error;

  it("generate, wait for the end and print the link on stdout, with progress on stderr", async () => {
    const { code, stdout, stderr } = await run(["generate", "slow piano", "--duration", "30", "--key", "k1"]);
    expect([code, stdout]).to.deep.equal([0, "trk_1  https://music.example/audio/1.mp3\n"]);
    expect(stderr).to.equal("job_1 was accepted for 10 credits.\nrendering  40 %\n");
    expect(api.requests).to.deep.equal([
      { model_id: A_MODEL.id, prompt: "slow piano", duration: 30, client: "fermata-cli", key: "k1" },
    ]);
    expect(servers).to.deep.equal([{ url: "https://music.example", apiKey: "frm_secret" }]);
  });

  it("draw a bar on a terminal, and leave nothing of it", async () => {
    const { stderr } = await run(["generate", "slow piano"], {}, true);
    expect(stderr).to.match(/█{10}░{14} {2} 40 % {2}rendering/);
    expect(stderr.endsWith("\r\u001b[K")).to.equal(true);
  });

  it("print one document with --json, and nothing on stderr", async () => {
    const { code, stdout, stderr } = await run(["generate", "slow piano", "--json"]);
    expect([code, stderr]).to.deep.equal([0, ""]);
    expect(JSON.parse(stdout)).to.deep.equal({ id: "job_1", ...COMPLETED });
  });

  it("do not wait with --detach, and say how to go on", async () => {
    api.ended = never();
    const shown = await run(["generate", "slow piano", "--detach"]);
    expect(shown).to.deep.equal({
      code: 0,
      stdout: "job_1\n",
      stderr: "Go on with `npx fermata-music wait job_1`.\n",
    });
    const { stdout } = await run(["generate", "slow piano", "--detach", "--json", "--key", "k1"]);
    expect(JSON.parse(stdout)).to.deep.equal({
      ...{ id: "job_1", status: "queued", credits_reserved: 10, idempotency_key: "k1" },
    });
  });

  it("choose the cheapest available model that takes what is asked for", async () => {
    const song = { ...A_MODEL, id: "song", supports_lyrics: true, lyrics_max_length: 100, credit_cost: 20 };
    api.offered = [
      { ...song, id: "dear", credit_cost: 30 },
      song,
      { ...song, id: "down", credit_cost: 1, status: "unavailable" },
      { ...A_MODEL, id: "short", duration: { minimum: 1, maximum: 10 }, credit_cost: 2 },
    ];
    await run(["generate", "rain", "--lyrics", "la la"]);
    await run(["generate", "rain", "--duration", "8", "--option", "seed=7"]);
    const [sung, short] = api.requests as { model_id: string; options?: object }[];
    expect([sung?.model_id, short?.model_id, short?.options]).to.deep.equal(["song", "short", { seed: 7 }]);
    const none = await run(["generate", "rain", "--option", "colour=red"]);
    expect([none.code, none.stderr]).to.deep.equal([
      1,
      "No available model takes all of this; there are: dear, song, short. --model names one, and then says why not.\n",
    ]);
    expect((await run(["generate", "rain", "--model", "lost"])).stderr).to.include("There is no model lost; ");
  });

  it("end with 1 and the job's error when it failed, refunded", async () => {
    const error = { code: "provider_timeout", message: "The provider did not respond in time." };
    api.ended = Promise.resolve({ ...COMPLETED, status: "failed", credits_charged: 0, outputs: [], error });
    const ended = await run(["generate", "slow piano", "--json"]);
    expect([ended.code, ended.stdout]).to.deep.equal([1, ""]);
    expect(errorIn(ended)).to.deep.equal({
      code: "provider_timeout",
      message: "job_1 failed: The provider did not respond in time. Its credits are refunded.",
      details: { job_id: "job_1" },
    });
  });

  it("end with 1 when the time is over, and say how to go on", async () => {
    api.ended = never();
    const args = ["generate", "slow piano", "--timeout", "0.01", "--url", "https://music.example"];
    const { code, stderr } = await run(args);
    expect(code).to.equal(1);
    expect(stderr).to.include(
      "job_1 has not ended after 0.01 s.\nGo on with `npx fermata-music wait job_1 --url https://music.example`.\n",
    );
  });

  it("name the key when no response came, with which a repeated command is charged once", async () => {
    api.accept = () => Promise.reject(new CallerApiError("network_error", null, "It did not respond."));
    const { code, stderr } = await run(["generate", "slow piano", "--key", "k1"]);
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      "It did not respond.\nThe server may have accepted it. Repeat it with --model synth/instrumental --key k1: " +
        "nothing is charged twice.\n",
    );
    api.accept = () =>
      Promise.reject(new CallerApiError("insufficient_credits", 402, "It costs 10.", { required: 10 }));
    expect(errorIn(await run(["generate", "slow piano", "--json"]))).to.deep.equal({
      code: "insufficient_credits",
      message: "It costs 10.",
      details: { required: 10 },
    });
  });

  describe("at Ctrl-C", () => {
    const GENERATE = ["generate", "slow piano", "--out", "/tmp/not-there-yet.mp3"];
    const GO_ON = "job_1 is left running.\nGo on with `npx fermata-music wait job_1 --out /tmp/not-there-yet.mp3`.\n";
    beforeEach(() => {
      api.ended = never();
      api.onWait = () => interrupt();
    });

    it("leave the job where there is no terminal to ask on, with exit code 130", async () => {
      const { code, stdout, stderr } = await run(GENERATE);
      expect([code, stdout, api.cancelled]).to.deep.equal([130, "", []]);
      expect(stderr.endsWith(GO_ON), stderr).to.equal(true);
    });

    it("cancel it where that was said beforehand", async () => {
      const ended = await run([...GENERATE, "--on-interrupt", "cancel", "--json"]);
      expect([ended.code, api.cancelled]).to.deep.equal([130, ["job_1"]]);
      expect(errorIn(ended)).to.deep.equal({
        code: "interrupted",
        message: "job_1 is cancelled; its credits are refunded.",
        details: { job_id: "job_1", status: "failed" },
      });
    });

    it("leave it where that was said beforehand, and at SIGTERM without a question", async () => {
      const ask = (): Promise<string> => expect.fail("asked");
      expect((await run([...GENERATE, "--on-interrupt", "leave"], { ask }, true)).code).to.equal(130);
      api.onWait = () => interrupt("SIGTERM");
      expect((await run(GENERATE, { ask }, true)).code).to.equal(130);
      expect(api.cancelled).to.deep.equal([]);
    });

    for (const [typed, cancelled] of [
      [["c"], ["job_1"]],
      [["what?", "CANCEL"], ["job_1"]],
      [["l"], []],
      [[null], []],
    ] as const) {
      it(`ask on a terminal, where ${JSON.stringify(typed)} cancels ${cancelled.length} jobs`, async () => {
        const lines: (string | null)[] = [...typed];
        const questions: string[] = [];
        const ask: Ask = async (question) => (questions.push(question), lines.shift() ?? null);
        const { code } = await run(GENERATE, { ask }, true);
        expect([code, api.cancelled, questions.length]).to.deep.equal([130, cancelled, typed.length]);
        expect(questions[0]).to.match(/^Cancel the job, or leave it running\?/);
      });
    }

    it("leave at once at the second one, also at the question", async () => {
      const ask: Ask = async (_question, { signal } = {}) => {
        queueMicrotask(() => interrupt());
        return new Promise((resolve) => signal?.addEventListener("abort", () => resolve(null)));
      };
      const { code, stderr } = await run(GENERATE, { ask }, true);
      expect(code).to.equal(130);
      expect(stderr.endsWith(GO_ON), stderr).to.equal(true);
      expect(api.cancelled).to.deep.equal([]);
    });

    it("take the result of a job that completes while they ask", async () => {
      let complete = (_job: CallerJob): void => undefined;
      api.ended = new Promise((resolve) => (complete = resolve));
      const ask: Ask = (_question, { signal } = {}) => {
        complete(COMPLETED);
        return new Promise((resolve) => signal?.addEventListener("abort", () => resolve(null)));
      };
      const { code, stdout } = await run(["generate", "slow piano"], { ask }, true);
      expect([code, stdout]).to.deep.equal([0, "trk_1  https://music.example/audio/1.mp3\n"]);
    });

    it("say that a job goes on whose provider cannot stop it", async () => {
      api.afterCancel = { outcome: "running", job: { ...COMPLETED, status: "processing", outputs: [] } };
      const { code, stderr } = await run([...GENERATE, "--on-interrupt", "cancel"]);
      expect(code).to.equal(130);
      expect(stderr).to.include(
        "job_1 is bought and runs to its end, unless its provider still stops it.\nGo on with `",
      );
    });

    it("name the key while it is not known whether the request was accepted", async () => {
      let accepted = (_job: AcceptedJob): void => undefined;
      api.accept = () => {
        queueMicrotask(() => interrupt());
        return new Promise((resolve) => (accepted = resolve));
      };
      const { code, stderr } = await run([...GENERATE, "--key", "k1"]);
      expect(code).to.equal(130);
      expect(stderr).to.include("It was interrupted. The server may have accepted it. Repeat it with --model synth/");
      accepted({ id: "job_1", status: "queued", credits_reserved: 10 });
    });

    it("cancel, once it is accepted, a job that was interrupted before", async () => {
      api.onWait = () => undefined;
      api.accept = async () => {
        interrupt();
        return { id: "job_1", status: "queued", credits_reserved: 10 };
      };
      const { code } = await run(["generate", "slow piano", "--detach", "--on-interrupt", "cancel"]);
      expect(code).to.equal(130);
      expect(api.cancelled).to.deep.equal(["job_1"]);
    });
  });

  it("show credits, models and what a search finds, as the server has them", async () => {
    expect((await run(["credits", "show"])).stdout).to.equal(
      "available  90\nmonthly    90\npack       0\nspent      10\n",
    );
    expect((await run(["models", "list"])).stdout).to.equal("synth/instrumental  10 credits  available\n");
    expect((await run(["library", "search", "rain"])).stdout).to.equal("trk_1  Rain  Synth\npls_1  Calm  1 track\n");
    expect(JSON.parse((await run(["library", "search", "--json"])).stdout)).to.deep.equal(await api.search());
  });

  for (const args of [
    ["generate", "x", "--api-key", "frm_secret"],
    ["generate", "x", "--api-key=frm_secret"],
    ["login", "--api-key=frm_secret"],
    ["credits", "show", "--api-key", "frm_secret", "--json"],
  ]) {
    it(`refuse a key in the command line, and do not repeat it: ${args.join(" ")}`, async () => {
      const { code, stdout, stderr } = await run(args);
      expect([code, stdout]).to.deep.equal([2, ""]);
      expect(stderr).to.include("--api-key is refused").and.to.not.include("frm_secret");
    });
  }

  for (const url of [
    "music.example",
    "ftp://music.example",
    "https://me:secret@music.example",
    "https://a.example?k=1",
  ]) {
    it(`refuse the address ${url}`, async () => {
      const { code, stderr } = await run(["credits", "show"], { env: { ...ENV, FERMATA_URL: url } });
      expect(code).to.equal(2);
      expect(stderr).to.include("Allowed: one such as https://music.example").and.to.not.include("secret");
    });
  }

  it("refuse options that contradict each other, before anything is asked for", async () => {
    expect((await run(["generate", "x", "--detach", "--out", "x.mp3"])).code).to.equal(2);
    expect((await run(["split", "trk_1", "--detach", "--out", "x"])).code).to.equal(2);
    expect((await run(["generate", "x", "--on-interrupt", "dance"])).stderr).to.include(
      "Allowed choices are cancel, leave",
    );
    expect((await run(["webhooks", "listen", "--forward", "here"])).stderr).to.include("--forward is no address");
    expect(servers).to.deep.equal([]);
  });
});
