import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dataOf, isPutOff, PatientClient } from "../../support/api-client.js";
import { createMigratedMysqlDatabase } from "../../support/mysql.js";
import { type Environment, eventually, type FermataProcess, type Sandbox } from "../../support/process.js";
import { checkLedger } from "../../support/chaos/checks.js";
import { CHAOS_SETTINGS } from "../../support/chaos/chaos.js";
import { Vendor, type RenderOptions } from "../../support/vendor/index.js";
import { type CountedJob, countWaste, type WasteCount } from "../../support/waste.js";

export interface InstallationOptions {
  readonly renders: RenderOptions;
  /** `plugins` for a vendor at this URL. */
  plugins(vendorUrl: string): Readonly<Record<string, object>>;
  /** Settings of `jobs`. */
  readonly jobs?: object;
  readonly storage?: "sqlite" | "mysql";
}

/** The credits of the account. */
const CREDITS = 1_000_000;

const ENDED: readonly string[] = ["completed", "failed"];

/** The longest time that all jobs may take to end. */
const END_MAX_MS = 60_000;

/** Separate Fermata processes with a vendor that counts purchases, and one account. */
export class Installation {
  private clientUrl = "";

  private constructor(
    private readonly sandbox: Sandbox,
    readonly vendor: Vendor,
    readonly dataDir: string,
    readonly settings: Environment,
    private readonly key: string,
    private readonly dropDatabase: () => Promise<void>,
  ) {}

  /** Creates the data directory, the database and the account; starts no process. The caller closes it. */
  static async open(sandbox: Sandbox, options: InstallationOptions): Promise<Installation> {
    const { renders, plugins, jobs = {}, storage = "sqlite" } = options;
    const [vendor, dataDir] = await Promise.all([Vendor.open(renders), sandbox.dataDir()]);
    const database = storage === "mysql" ? await createMigratedMysqlDatabase() : null;
    const drop = async (): Promise<void> => database?.drop();
    try {
      const file = join(dataDir, "fermata.json");
      const document = {
        // Providers send callbacks to https only; the vendor knows the server behind it.
        http: { publicUrl: "https://fermata.test" },
        webhooks: { allowNetworks: ["127.0.0.0/8"], allowHttp: true },
        jobs,
        plugins: { synth: { enabled: false }, ...plugins(vendor.url) },
      };
      await writeFile(file, JSON.stringify(document));
      const settings = {
        ...CHAOS_SETTINGS,
        // What is bought is not decoded, which takes a process longer than all the rest.
        FERMATA_AUDIO__ANALYSER: "none",
        FERMATA_CONFIG: file,
        ...(database === null ? {} : { FERMATA_STORAGE__URL: database.url }),
      };
      await sandbox.json(["migrate"], dataDir, settings);
      const create = ["accounts", "create", "caller", "--tier", "pro", "--accept-terms", "--credits", String(CREDITS)];
      const { id } = await sandbox.json<{ id: string }>(create, dataDir, settings);
      const { key } = await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir, settings);
      return new Installation(sandbox, vendor, dataDir, settings, key, drop);
    } catch (error) {
      await Promise.all([vendor.close(), drop()]);
      throw error;
    }
  }

  /** The URL of the database, if it is not a file. */
  get databaseUrl(): string {
    return this.settings["FERMATA_STORAGE__URL"] as string;
  }

  get api(): PatientClient {
    return new PatientClient(this.clientUrl, this.key);
  }

  /** Starts a process that listens. Clients and the vendor's callbacks use it from now on. */
  async serve(mode: "start" | "serve", env: Environment = {}): Promise<FermataProcess> {
    const started = this.sandbox.spawn([mode], this.dataDir, { ...this.settings, ...env });
    this.clientUrl = await started.listening();
    this.vendor.callbacks.target = () => this.clientUrl;
    return started;
  }

  async work(env: Environment = {}): Promise<FermataProcess> {
    const worker = this.sandbox.spawn(["work"], this.dataDir, { ...this.settings, ...env });
    await worker.line(/^working$/m);
    return worker;
  }

  /** Creates jobs, each requested under one key until it is accepted. */
  request(modelId: string, prompts: readonly string[]): Promise<CountedJob[]> {
    return Promise.all(prompts.map(async (prompt) => ({ id: await this.accepted(modelId, prompt), prompt })));
  }

  /** Sends one request. @returns null when the service returns that it cannot start the job in time */
  async offer(modelId: string, prompt: string): Promise<CountedJob | null> {
    const response = await this.api.generate({ model_id: modelId, prompt });
    if (response.status === 202) return { id: dataOf<{ id: string }>(response).id, prompt };
    if (isPutOff(response)) return null;
    throw new Error(`Expected 202, or 503 with Retry-After; got ${response.status}: ${response.text}`);
  }

  /** Whether the job is completed or failed. */
  async hasEnded({ id }: CountedJob): Promise<boolean> {
    const { status } = dataOf<{ status: string }>(await this.api.get(`/api/v1/generations/${id}`));
    return ENDED.includes(status);
  }

  /** Waits until every job is completed or failed. */
  async ended(jobs: readonly CountedJob[]): Promise<void> {
    const endsAt = performance.now() + END_MAX_MS;
    for (const job of jobs) {
      const leftMs = Math.max(1, endsAt - performance.now());
      await eventually(`the end of ${job.id} (${job.prompt})`, () => this.hasEnded(job), leftMs);
    }
  }

  /** Waits for their ends, and counts. */
  async count(jobs: readonly CountedJob[]): Promise<WasteCount> {
    await this.ended(jobs);
    return countWaste(this.vendor.purchases, this.api, jobs);
  }

  /** The sum that the account has paid. */
  async spent(): Promise<number> {
    return dataOf<{ total_spent: number }>(await this.api.get("/api/v1/credits")).total_spent;
  }

  /** `fermata ledger verify` finds nothing. */
  async checkLedger(): Promise<void> {
    await checkLedger(this.sandbox, this.dataDir, this.settings);
  }

  /** Ends its processes, with all others of the sandbox. */
  async close(): Promise<void> {
    await this.sandbox.clear();
    await Promise.all([this.vendor.close(), this.dropDatabase()]);
  }

  private async accepted(modelId: string, prompt: string): Promise<string> {
    const key = { "Idempotency-Key": randomUUID() };
    for (;;) {
      const response = await this.api.generate({ model_id: modelId, prompt }, key);
      if (!isPutOff(response)) return dataOf<{ id: string }>(response).id;
      await sleep(100);
    }
  }
}
