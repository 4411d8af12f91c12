import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { Environment, FermataProcess, Sandbox } from "../process.js";
import { checkAudio, checkCredits, checkJobs, checkLedger, createCallers } from "./checks.js";
import { Clients, type GenerationBody } from "./clients.js";
import { SeededRandom } from "./seeded-random.js";
import { readRows } from "./rows.js";
import { awaitAllEnded, jobIdIn, withSeedInError, CHAOS_SETTINGS } from "./chaos.js";

/** Repeated kills of one process that does everything, on the embedded default. */
export interface Chaos {
  /** The seed of everything random; the timing of the machine is not reproducible. */
  readonly seed: number;
  readonly kills: number;
  /** Demands between two kills. */
  readonly demandsPerRound: number;
  readonly accounts: number;
}

/** Concurrent clients. */
const CLIENTS = 6;

const SETTINGS: Environment = {
  ...CHAOS_SETTINGS,
  FERMATA_PLUGINS__SYNTH__KEEP_STEMS: "false",
  FERMATA_PLUGINS__SYNTH__THREADS: "3",
  FERMATA_AUDIO__ANALYSER: "none",
  // A worker that is killed in a call may have bought the work: the call is repeated for so long, also when it fails.
  FERMATA_JOBS__UNKNOWN_GRACE_SECONDS: "5",
};

/** Refusals and hooks cost no rendering, so most demands are of these kinds. */
const PROMPTS = [
  "harbour at night",
  "slow waltz [[delay:0.2]]",
  "brass [[fail-times:1:unavailable]]",
  "noise [[fail:failed]]",
  "a hymn [[fail:content_rejected]]",
  "far away [[fail:timeout]]",
  "half a dream [[delay:0.4]] [[fail:failed]]",
];

/**
 * Kills the server repeatedly while clients send requests, and checks afterwards that every accepted job ended once and
 * that the ledger is exact. A failure names the seed.
 */
export function surviveChaos(sandbox: Sandbox, chaos: Chaos): Promise<void> {
  return withSeedInError(chaos.seed, () => run(sandbox, chaos));
}

async function run(sandbox: Sandbox, chaos: Chaos): Promise<void> {
  const seeded = new SeededRandom(chaos.seed);
  const dataDir = await sandbox.dataDir();
  await sandbox.json(["migrate"], dataDir);
  const callers = await createCallers(sandbox, dataDir, SETTINGS, chaos.accounts);
  const rows = async (): Promise<ReturnType<typeof readRows>> => readRows(dataDir);
  let url = "";
  const start = async (): Promise<FermataProcess> => {
    const server = sandbox.spawn(["start"], dataDir, SETTINGS);
    url = await server.listening();
    return server;
  };
  const clients = new Clients({
    random: seeded,
    callers,
    urls: () => [url],
    body: (): GenerationBody => ({
      model_id: "synth/instrumental",
      prompt: seeded.pick(PROMPTS) as string,
      duration: 5,
    }),
    findJobId: async (demand) => jobIdIn(await rows(), demand),
  });

  for (let round = 0; round < chaos.kills; round++) {
    const server = await start();
    clients.allow(chaos.demandsPerRound);
    await runUntilKilled(server, clients, seeded.between(200, 1_200));
  }
  const server = await start();
  await awaitAllEnded(clients, rows, () => {
    if (server.hasExited) throw new Error(`The server ended unexpectedly:\n${server.stderr}`);
  });
  await checkCredits(url, callers, clients.demands);
  expect(await server.stop(), "exit code of the last stop").to.equal(0);
  await checkLedger(sandbox, dataDir, SETTINGS);
  checkJobs(await rows(), clients.demands);
  await checkAudio(await rows(), dataDir);
}

async function runUntilKilled(server: FermataProcess, clients: Clients, lifeMs: number): Promise<void> {
  const killed = new AbortController();
  const killing = sleep(lifeMs)
    .then(() => server.kill())
    .finally(() => killed.abort());
  await Promise.all([killing, clients.run(CLIENTS, killed.signal)]);
}
