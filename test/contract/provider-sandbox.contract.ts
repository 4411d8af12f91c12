import { expect } from "chai";
import { type OpenSandbox, ProviderFailure, type ProviderSandbox } from "../../core/ports/music-provider.js";
import type { Misdeed } from "../support/sandbox/misbehaving.js";
import { moduleUrl } from "../support/sandbox/module-url.js";

const MIB = 1024 * 1024;
const LIMITS = { memoryBytes: 256 * MIB, cpuMs: 60_000, replyMs: 60_000, processes: 1 };
const never = new AbortController().signal;

async function failureOf(work: Promise<unknown>): Promise<ProviderFailure> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (ProviderFailure.is(error)) return error;
  throw new Error(`expected a provider failure, not ${String(error)}`);
}

/** The promises of every sandbox of a plugin's host. */
export function providerSandboxContract(name: string, open: OpenSandbox): void {
  describe(`ProviderSandbox contract: ${name}`, function () {
    this.timeout(60_000);
    const opened: ProviderSandbox[] = [];
    const sandboxWith = (limits: Partial<typeof LIMITS> = {}): ProviderSandbox => {
      const sandbox = open(moduleUrl("misbehaving"), { ...LIMITS, ...limits });
      opened.push(sandbox);
      return sandbox;
    };
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((sandbox) => sandbox.close()));
    });

    const one = async (sandbox: ProviderSandbox, request: Misdeed, signal = never): Promise<object> =>
      sandbox.run((ask) => ask(request), signal);
    const pidOf = async (sandbox: ProviderSandbox): Promise<number> =>
      ((await one(sandbox, { kind: "report" })) as { readonly pid: number }).pid;

    it("runs a task of several requests, and the next task, in one separate process", async () => {
      const sandbox = sandboxWith();
      const pids = await sandbox.run(async (ask) => {
        const replies = [await ask({ kind: "report" }), await ask({ kind: "report" })];
        return replies.map((reply) => (reply as { readonly pid: number }).pid);
      }, never);
      expect(new Set([...pids, await pidOf(sandbox)]).size).to.equal(1);
      expect(pids).not.to.include(process.pid);
    });

    it("transfers megabytes in both directions", async () => {
      const bytes = Uint8Array.from({ length: 4 * MIB }, (_, index) => index % 251);
      const { echoed } = (await one(sandboxWith(), { kind: "echo", bytes })) as { readonly echoed: Uint8Array };
      expect(Buffer.from(echoed).equals(Buffer.from(bytes))).to.equal(true);
    });

    it("rejects with the error of the task, and runs the next", async () => {
      const sandbox = sandboxWith();
      const refusal = new ProviderFailure("invalid_input", "no audio");
      const failure = failureOf(sandbox.run(() => Promise.reject(refusal), never));
      expect(await failure).to.equal(refusal);
      expect(await pidOf(sandbox)).to.be.above(0);
    });

    for (const [kind, limits, why] of [
      ["fill", {}, /256 MiB of memory/],
      ["spin", { cpuMs: 300 }, /300 ms of processor time/],
      ["hang", { replyMs: 300 }, /300 ms for a reply/],
      ["exit", {}, /process ended \(exit code 3\)/],
      ["throw", {}, /process ended \(exit code 1\)/],
    ] as const) {
      it(`fails the task whose process does this: ${kind}; and runs the next in another process`, async () => {
        const sandbox = sandboxWith(limits);
        const before = await pidOf(sandbox);
        const failure = await failureOf(one(sandbox, { kind }));
        expect(failure.kind).to.equal("failed");
        expect(failure.message).to.match(why);
        expect(await pidOf(sandbox)).not.to.equal(before);
      });
    }

    it("runs one task at a time, and drops an aborted one", async () => {
      const sandbox = sandboxWith();
      const abort = new AbortController();
      const [running, waiting] = [failureOf(one(sandbox, { kind: "hang" }, abort.signal)), pidOf(sandbox)];
      abort.abort();
      expect((await running).kind).to.equal("unavailable");
      expect(await waiting).to.be.above(0);
      expect((await failureOf(one(sandbox, { kind: "report" }, AbortSignal.abort()))).kind).to.equal("unavailable");
    });

    it("rejects running, waiting and later tasks as unavailable after it is closed", async () => {
      const sandbox = sandboxWith();
      await pidOf(sandbox);
      const running = failureOf(one(sandbox, { kind: "hang" }));
      const waiting = failureOf(one(sandbox, { kind: "report" }));
      await sandbox.close();
      const later = failureOf(one(sandbox, { kind: "report" }));
      expect((await Promise.all([running, waiting, later])).map(({ kind }) => kind)).to.deep.equal([
        "unavailable",
        "unavailable",
        "unavailable",
      ]);
    });
  });
}
