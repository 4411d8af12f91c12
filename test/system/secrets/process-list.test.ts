import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { useSandbox } from "../../support/process.js";

const CANARY = "canary-of-a-secret-in-a-setting";

/** What every user of the machine sees of a process, its words, and what its own user sees: its environment. */
interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly words: string;
  readonly environment: string;
}

function seen(pid: number): Seen | null {
  const read = (name: string): string => readFileSync(`/proc/${pid}/${name}`, "latin1");
  try {
    const parent = Number(/^PPid:\t(\d+)$/m.exec(read("status"))?.[1]);
    return { pid, parent, words: read("cmdline"), environment: read("environ") };
  } catch {
    return null; // It has ended meanwhile.
  }
}

/** The processes that one has started, with those that they have. */
function childrenOf(pid: number): readonly Seen[] {
  const all = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (seen(Number(name)) ?? []) : []));
  const below = (parent: number): readonly Seen[] =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(pid);
}

describe("The list of processes", function () {
  this.timeout(90_000);
  const sandbox = useSandbox();

  it("shows no secret of a running server, whose helper processes get none either", async () => {
    const dataDir = await sandbox.dataDir();
    const server = sandbox.spawn(["start"], dataDir, {
      FERMATA_SECRETS__KEY: `${CANARY}, long enough for a key`,
      FERMATA_PLUGINS__MUREKA__ENABLED: "true",
      FERMATA_PLUGINS__MUREKA__API_KEY: CANARY,
    });
    const api = new ApiClient(await server.listening(), await server.demoKey());
    const pid = server.pid as number;
    // The files of a song are decoded in processes of their own.
    const song = { model_id: "synth/instrumental", prompt: "slow rain", duration: 30 };
    const { id } = dataOf<{ id: string }>(await api.generate(song));
    const helpers = new Map<number, Seen>();
    for (let status = "queued"; status !== "completed";) {
      for (const child of childrenOf(pid)) helpers.set(child.pid, child);
      ({ status } = dataOf<{ status: string }>(await api.get(`/api/v1/jobs/${id}`)));
      expect(["queued", "processing", "completed"]).to.include(status);
    }

    // From the sources, the compiler of modules is a process as well.
    const own = [...helpers.values()].filter(({ words }) => !words.includes("esbuild"));
    expect(own.some(({ words }) => words.includes("decoder-process"))).to.equal(true);
    expect(seen(pid)?.words).to.not.include(CANARY);
    expect(seen(pid)?.environment, "the settings that were given").to.include(CANARY);
    for (const { words, environment } of own) expect(words + environment).to.not.include(CANARY);
  });
});
