import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { dataOf } from "../../support/api-client.js";
import { eventually } from "../../support/process.js";
import { repositoryPath } from "../../support/repository.js";
import { freePort } from "../../support/services.js";
import { startTestApp, type TestAccount, type TestApp } from "../../support/test-app.js";

const run = promisify(execFile);
const EXAMPLE_URL = "http://127.0.0.1:8080";
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const EVENT = JSON.stringify({ type: "generation.completed", data: { job_id: "job_1" } });

interface Program {
  readonly language: string;
  readonly code: string;
}

/** Blocks of code in a guide that are programs, in their order. */
async function programsOf(guide: string): Promise<Program[]> {
  const text = await readFile(repositoryPath("adapters/http/guides", `${guide}.md`), "utf8");
  const blocks = text.matchAll(/^```(sh|js|python)\n([^]*?)^```$/gm);
  return [...blocks].map(([, language = "", code = ""]) => ({ language, code }));
}

const COMMANDS: Readonly<Record<string, (code: string) => [string, string[]]>> = {
  sh: (code) => ["sh", ["-c", code]],
  js: (code) => [process.execPath, ["--input-type=module", "-e", code]],
  python: (code) => ["python3", ["-c", code]],
};

describe("The programs in the guides for callers", function () {
  this.timeout(90_000);
  let test: TestApp;
  let caller: TestAccount;
  /** Of a caller: it has the package, and what programs leave behind. */
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "fermata-guides-"));
    await mkdir(join(folder, "node_modules"));
    await symlink(repositoryPath(), join(folder, "node_modules", "fermata-music"));
    test = await startTestApp({ work: true, settings: { plugins: { synth: { enabled: true } } } });
    caller = await test.account();
  });
  after(async () => {
    await test.close();
    await rm(folder, { recursive: true });
  });

  async function outputOf({ language, code }: Program): Promise<string> {
    const [program, words] = COMMANDS[language]?.(code.replaceAll(EXAMPLE_URL, test.url)) ?? ["", []];
    const env = { PATH: process.env["PATH"], FERMATA_API_KEY: caller.key };
    return (await run(program, words, { env, cwd: folder })).stdout;
  }

  /** Output of the programs of a guide, each run to its end. */
  async function outputsOf(guide: string): Promise<string[]> {
    const outputs: string[] = [];
    for (const program of await programsOf(guide)) outputs.push(await outputOf(program));
    return outputs;
  }
  const spent = async (): Promise<unknown> => dataOf(await caller.api.get("/api/v1/credits"))["total_spent"];

  it("create music and wait for it: quickstart", async () => {
    const [curl = "", ...programs] = await outputsOf("quickstart");
    const { data } = JSON.parse(curl) as { readonly data: { readonly status: string; readonly tracks: object[] } };
    expect([data.status, data.tracks.length]).to.deep.equal(["completed", 1]);
    expect(programs).to.have.length(2);
    for (const output of programs) expect(output).to.match(/^completed \S.+\n$/);
  });

  it("repeat a request at no cost, and retry: idempotency", async () => {
    const before = Number(await spent());
    const [twice = "", retried] = await outputsOf("idempotency");
    expect(twice.match(/HTTP\/1.1 202/g)).to.have.length(2);
    expect(twice.match(/^idempotent-replayed: true/gim)).to.have.length(1);
    expect(retried).to.match(/^queued 10\n$/);
    await eventually("charged", async () => Number(await spent()) - before === 20 || null);
  });

  it("show what is left, and save what is known: limits", async () => {
    const [headers = "", unchanged] = await outputsOf("limits");
    expect(unchanged).to.equal("304\n");
    expect(headers)
      .to.match(/^ratelimit-policy: "read-minute";q=/im)
      .and.to.match(/^ratelimit: "read-minute";r=/im);
  });

  it("have each event once, and go on where they stopped: events", async () => {
    caller = await test.account();
    const generate = async (): Promise<string> => {
      const given = { model_id: "synth/instrumental", prompt: "harp", duration: 5 };
      return dataOf<{ id: string }>(await caller.api.generate(given, { Prefer: "wait=60" })).id;
    };
    const first = await generate();
    const [listed = "", ...printed] = await outputsOf("events");
    expect(JSON.parse(listed)).to.have.nested.property("data.events[0].body.data.job_id", first);
    expect(printed).to.deep.equal([`generation.completed ${first}\n`, `generation.completed ${first}\n`]);
    const second = await generate();
    const [, ...later] = await outputsOf("events");
    expect(later).to.deep.equal([`generation.completed ${second}\n`, `generation.completed ${second}\n`]);
    expect((await outputsOf("events")).slice(1)).to.deep.equal(["", ""]);
  });

  it("use the client: client", async () => {
    const [generates, reads, receiver, ...others] = await programsOf("client");
    expect(others).to.deep.equal([]);
    expect(await outputOf(generates as Program)).to.match(/^\S.* http:\/\/127\.0\.0\.1:\d+\/audio\/\S+\n$/);
    expect(await outputOf(reads as Program))
      .to.match(/^synth\/instrumental 10$/m)
      .and.to.match(/^trk_\w+ \S.*$/m);
    await expectReceiver(receiver as Program);
  });

  it("list the tools: mcp", async () => {
    const [listed] = await outputsOf("mcp");
    expect(listed).to.include('"name":"generate_music"');
  });

  it("verify events, and refuse forged and old ones: webhooks", async () => {
    const [receiver, check, ...others] = await programsOf("webhooks");
    expect([receiver?.language, check?.language, others.length]).to.deep.equal(["js", "python", 0]);
    await expectReceiver(receiver as Program);
    const verdicts = [
      [signedHeaders(new Date()), EVENT],
      [signedHeaders(new Date()), EVENT.replace("job_1", "job_2")],
      [signedHeaders(new Date(Date.now() - 3_600_000)), EVENT],
    ].map(
      ([headers, body]) => `verify(${[SECRET, headers].map((each) => JSON.stringify(each)).join(", ")}, ${py(body)})`,
    );
    const { stdout } = await run("python3", ["-c", `${check?.code}\nprint(${verdicts.join(", ")})\n`]);
    expect(stdout).to.equal("True False False\n");
  });

  /** A program that takes what is signed for it, and nothing else. */
  async function expectReceiver({ code }: Program): Promise<void> {
    const port = await freePort();
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      cwd: folder,
      env: { PATH: process.env["PATH"], SIGNING_SECRET: SECRET, PORT: String(port) },
    });
    try {
      let output = "";
      child.stdout.on("data", (part: Buffer) => (output += part.toString()));
      const post = async (body: string, at = new Date()): Promise<number> => {
        const headers = signedHeaders(at);
        return (await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body })).status;
      };
      await eventually("listening", () => post(EVENT).catch(() => null));
      expect(await post(EVENT.replace("job_1", "job_2"))).to.equal(401);
      expect(await post(EVENT, new Date(Date.now() - 3_600_000))).to.equal(401);
      await eventually("printed", () => Promise.resolve(output === "" ? null : output));
      expect(output).to.equal("generation.completed job_1\n");
      expect(await post(EVENT)).to.equal(204);
    } finally {
      child.kill();
      await once(child, "exit");
    }
  }
});

/** As a secret in rotation has them: one signature of another secret comes first. */
function signedHeaders(at: Date): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const other = createHmac("sha256", "another secret").update(`evt_1.${timestamp}.${EVENT}`).digest("base64");
  return {
    "webhook-id": "evt_1",
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${other} ${new Webhook(SECRET).sign("evt_1", at, EVENT)}`,
  };
}

/** A literal of bytes in Python. */
function py(body: unknown): string {
  return `${JSON.stringify(body)}.encode()`;
}
