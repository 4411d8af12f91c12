import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, compose, loadSettings, type Overrides } from "../../config/index.js";
import type { AccountId } from "../../core/ids.js";
import { ScriptedProvider } from "../support/doubles/scripted-provider.js";

/** Ports that no benchmark uses. */
const NO_LIMIT = 1_000_000_000;
const PLENTY = { perMinute: NO_LIMIT, perDay: NO_LIMIT };

/** A model of the provider double, for requests. */
export const MODEL = "scripted/beat";

/** Settings of the same names. */
export interface Places {
  /** SQLite in the data directory by default. */
  readonly storageUrl?: string | undefined;
  readonly readUrl?: string | undefined;
  /** In this process by default. */
  readonly queueUrl?: string | undefined;
}

/**
 * Opens an installation without effective limits. Its only provider is the double, which is scripted by the benchmark.
 */
export async function openFermata(
  dataDir: string,
  overrides: Overrides = {},
  { storageUrl, readUrl, queueUrl }: Places = {},
): Promise<{ readonly app: App; readonly provider: ScriptedProvider }> {
  const provider = new ScriptedProvider();
  const settings = loadSettings({
    env: {},
    cwd: dataDir,
    isTerminal: false,
    overrides: {
      dataDir,
      ...(storageUrl === undefined
        ? {}
        : { storage: { url: storageUrl, ...(readUrl === undefined ? {} : { readUrl }) } }),
      ...(queueUrl === undefined ? {} : { queue: { url: queueUrl } }),
      http: { port: 0 },
      rateLimits: { read: PLENTY, generation: PLENTY, write: PLENTY, authFailures: { perMinute: NO_LIMIT } },
      tiers: { pro: { maxConcurrent: NO_LIMIT } },
      logs: { level: "error" },
      plugins: { synth: { enabled: false } },
    },
  });
  return { app: await compose(settings, { plugins: [provider.definition], ...overrides }), provider };
}

/** An account with enough credits. */
export interface Holder {
  readonly accountId: AccountId;
  readonly key: string;
}

/** A data directory with accounts, copied for every measured process. */
export interface Installation {
  readonly holders: readonly Holder[];
  copy(): Promise<string>;
  /** Deletes it and all its copies. */
  remove(): Promise<void>;
}

export async function makeInstallation(accounts: number): Promise<Installation> {
  const root = await mkdtemp(join(tmpdir(), "fermata-bench-"));
  const original = join(root, "original");
  const { app } = await openFermata(original);
  const holders: Holder[] = [];
  for (let created = 0; created < accounts; created++) {
    const { id } = await app.accounts.create({ name: `Account ${created}`, tier: "pro", acceptTerms: true });
    await app.credits.grant(id, NO_LIMIT, { bucket: "pack" });
    holders.push({ accountId: id, key: (await app.accounts.issueKey(id)).token });
  }
  await app.stop();
  let copies = 0;
  return {
    holders,
    async copy() {
      const path = join(root, `copy-${++copies}`);
      await cp(original, path, { recursive: true });
      return path;
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
