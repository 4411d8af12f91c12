import { expect } from "chai";
import { type Environment, eventually } from "../process.js";
import type { Clients, Demand } from "./clients.js";
import type { Rows } from "./rows.js";

/** The longest time that all jobs may take after the last restart: leases end after 1.5 s, and little is rendered. */
const REST_MAX_MS = 90_000;

/**
 * No limit and no open breaker delays a client. Leases are short, so that lost jobs are soon claimed by another worker.
 */
export const CHAOS_SETTINGS: Environment = {
  FERMATA_DEMO__ENABLED: "false",
  FERMATA_JOBS__LEASE_SECONDS: "1.5",
  FERMATA_JOBS__BACKOFF_MS: "50",
  FERMATA_JOBS__SWEEP_MS: "100",
  FERMATA_BREAKER__FAILURES: "10000",
  FERMATA_TIERS__PRO__MAX_CONCURRENT: "10000",
  FERMATA_RATE_LIMITS__READ__PER_MINUTE: "1000000",
  FERMATA_RATE_LIMITS__READ__PER_DAY: "10000000",
  FERMATA_RATE_LIMITS__GENERATION__PER_MINUTE: "1000000",
  FERMATA_RATE_LIMITS__GENERATION__PER_DAY: "1000000",
};

/** Adds the seed to the error of `run`. */
export async function withSeedInError<T>(seed: number, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Error) error.message = `FERMATA_TEST_SEED=${seed}: ${error.message}`;
    throw error;
  }
}

/**
 * After the kills: every demand gets a response, every job ends, and neither responses nor ends change any more.
 *
 * @param checkAlive throws when a process has ended unexpectedly
 */
export async function awaitAllEnded(
  clients: Clients,
  readRows: () => Promise<Rows>,
  checkAlive: () => void,
): Promise<void> {
  await clients.requestAll();
  expect(
    clients.demands.filter(({ jobId }) => jobId === null),
    "demands without a response",
  ).to.deep.equal([]);
  const allEnded = (): Promise<boolean> => {
    checkAlive();
    return clients.allEnded();
  };
  await eventually("every job has ended", allEnded, REST_MAX_MS).catch(async (error: Error) => {
    const alive = (await readRows()).jobs.filter(({ phase }) => phase !== "ended");
    throw new Error(`${error.message}\nstill alive: ${JSON.stringify(alive)}`, { cause: error });
  });
  await clients.requestAll();
  await clients.readAll();
}

/** The job of a demand in the storage. */
export function jobIdIn({ jobs }: Rows, { number, caller, idempotencyKey }: Demand): string {
  const job = jobs.find(
    ({ account_id, request: { prompt } }) => account_id === caller.accountId && prompt.startsWith(`${number} `),
  );
  if (job === undefined) throw new Error(`${idempotencyKey} has a response, but no job.`);
  return job.id;
}
