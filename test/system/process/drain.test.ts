import { join } from "node:path";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { CallRecording } from "../../support/plugins/recording/call-recording.js";
import { recordingProviderSettings } from "../../support/plugins/settings.js";
import { type Environment, eventually, type FermataProcess, useSandbox } from "../../support/process.js";

const AN_HOUR_MS = 3_600_000;
/** The promised time between a signal and the exit without calls that cannot be repeated. */
const STOP_MAX_MS = 10_000;

interface JobReport {
  readonly status: string;
  readonly credits_charged: number;
  readonly attempts: readonly { readonly outcome: string | null }[];
}

describe("A stop by a signal during renders that cannot be repeated", function () {
  this.timeout(90_000);
  const sandbox = useSandbox();
  let dataDir: string;
  let fermata: FermataProcess;
  let ids: string[];
  beforeEach(async () => {
    dataDir = await sandbox.dataDir();
  });

  /** A server with this many running renders. */
  async function rendering(count: number, lateMs: number, env: Environment, model = "recording/late"): Promise<void> {
    const provider = recordingProviderSettings(join(dataDir, "recording"), lateMs);
    fermata = sandbox.spawn(["start"], dataDir, { FERMATA_JOBS__SHUTDOWN_GRACE_SECONDS: "0.3", ...provider, ...env });
    const api = new ApiClient(await fermata.listening(), await fermata.demoKey());
    ids = [];
    while (ids.length < count) {
      ids.push(dataOf<{ id: string }>(await api.generate({ model_id: model, prompt: "tides" })).id);
    }
    await eventually("the provider has them all", () => submissions() === count);
  }

  function submissions(): number {
    return new CallRecording(join(dataDir, "recording")).read().length;
  }

  async function reports(): Promise<JobReport[]> {
    const settings = recordingProviderSettings(join(dataDir, "recording"));
    const found: JobReport[] = [];
    for (const id of ids) found.push(await sandbox.json<JobReport>(["jobs", "show", id], dataDir, settings));
    return found;
  }

  async function expectDelivered(count: number): Promise<void> {
    for (const report of await reports()) {
      expect(report).to.include({ status: "completed", credits_charged: 2 });
      expect(report.attempts.map(({ outcome }) => outcome)).to.deep.equal(["completed"]);
    }
    expect(submissions()).to.equal(count);
    expect(await sandbox.json(["ledger", "verify"], dataDir)).to.include({ ok: true });
  }

  /** @returns how long it took, in milliseconds */
  async function exits(code: number): Promise<number> {
    const from = performance.now();
    expect(await fermata.exited).to.deep.equal({ code, signal: null });
    return performance.now() - from;
  }

  it("delivers all of them, long after the grace time, and exits with 0", async () => {
    await rendering(4, 3_000, {});
    fermata.signal("SIGTERM");
    await exits(0);
    await expectDelivered(4);
    expect(fermata.stderr).to.include("4 submissions to recording");
  });

  it("is not forced after 9.5 s when it may drain for 30 s", async () => {
    await rendering(1, 12_000, { FERMATA_JOBS__DRAIN_SECONDS: "30" });
    fermata.signal("SIGTERM");
    expect(await exits(0)).to.be.greaterThan(STOP_MAX_MS);
    await expectDelivered(1);
  });

  it("ends when the drain time is over, names the abandoned calls, and exits with 1", async () => {
    await rendering(2, AN_HOUR_MS, { FERMATA_JOBS__DRAIN_SECONDS: "1" });
    fermata.signal("SIGTERM");
    expect(await exits(1)).to.be.within(900, STOP_MAX_MS);
    expect(fermata.stderr).to.match(/gave up calls that cannot be repeated.*2 submissions to recording/);
    for (const { status, attempts } of await reports()) {
      expect([status, attempts.map(({ outcome }) => outcome)]).to.deep.equal(["processing", ["outcome_unknown"]]);
    }
  });

  it("stops at once on a second signal, names the abandoned calls, and exits with 1", async () => {
    await rendering(2, AN_HOUR_MS, {});
    fermata.signal("SIGINT");
    await eventually("it waits", () => fermata.stderr.includes("The stop waits for calls"));
    await fermata.signalAgain("SIGINT");
    expect(await exits(1)).to.be.below(4_000);
    expect(fermata.stderr).to.match(/gave up calls that cannot be repeated.*2 submissions to recording/);
  });

  it("exits with 0 within 10 s when all calls can be repeated, whatever the drain and grace times", async () => {
    await rendering(2, AN_HOUR_MS, { FERMATA_JOBS__SHUTDOWN_GRACE_SECONDS: "60" }, "recording-idempotent/late");
    fermata.signal("SIGTERM");
    expect(await exits(0)).to.be.below(STOP_MAX_MS);
    expect((await reports()).map(({ status }) => status)).to.deep.equal(["processing", "processing"]);
    expect(fermata.stderr).not.to.include("cannot be repeated");
  });

  it("exits with 1 when a plugin ignores its signal: its jobs wait for their leases to end", async () => {
    await rendering(1, AN_HOUR_MS, {}, "recording-idempotent/deaf");
    fermata.signal("SIGTERM");
    expect(await exits(1)).to.be.below(STOP_MAX_MS);
  });
});
