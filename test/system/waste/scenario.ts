import { expect } from "chai";
import type { Sandbox } from "../../support/process.js";
import { CREDIT_COST } from "../../support/vendor/index.js";
import type { CountedJob, WasteCount } from "../../support/waste.js";
import { Installation, type InstallationOptions } from "./installation.js";
import type { Timing } from "./timing.js";

/** A situation in which bought work was thrown away; it is run on real processes. */
export interface Scenario {
  /** A short name: `overload 1.25`. */
  readonly name: string;
  /** The name of its test. */
  readonly promise: string;
  run(sandbox: Sandbox, timing: Timing): Promise<void>;
}

/** Runs `scene` in a separate installation, which is deleted afterwards. */
export async function inInstallation(
  sandbox: Sandbox,
  options: InstallationOptions,
  scene: (installation: Installation) => Promise<void>,
): Promise<void> {
  const installation = await Installation.open(sandbox, options);
  try {
    await scene(installation);
  } finally {
    await installation.close();
  }
}

/** Counts when all jobs have ended, and prints the figures. */
export async function counted(
  name: string,
  installation: Installation,
  jobs: readonly CountedJob[],
): Promise<WasteCount> {
  const count = await installation.count(jobs);
  const { bought, delivered, wasted, undelivered } = count;
  const figures = `      ${name}: bought ${bought}, delivered ${delivered}, wasted ${wasted}\n`;
  process.stdout.write(figures + undelivered.map((line) => `        ${line}\n`).join(""));
  return count;
}

/** Every job was bought once and delivered, and the account paid for each. */
export async function expectAllDelivered(
  name: string,
  installation: Installation,
  jobs: readonly CountedJob[],
): Promise<void> {
  const { bought, delivered, undelivered } = await counted(name, installation, jobs);
  expect(undelivered).to.deep.equal([]);
  expect({ bought, delivered }).to.deep.equal({ bought: jobs.length, delivered: jobs.length });
  expect(await installation.spent(), "credits spent").to.equal(jobs.length * CREDIT_COST);
  await installation.checkLedger();
}

/** `song 1`, `song 2`, … */
export function prompts(count: number, name = "song"): string[] {
  return Array.from({ length: count }, (_, index) => `${name} ${index + 1}`);
}
