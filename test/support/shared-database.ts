import { join } from "node:path";
import { createMigratedFile, temporaryFolder } from "./databases.js";
import { createMigratedMysqlDatabase } from "./mysql.js";
import { startTestApp, type TestApp, type TestAppOptions } from "./test-app.js";

/** All apps on one database have the same key. */
const SECRETS = { key: "a key of all these apps, which is long enough" };

/** Several apps on one database, as in several processes: each has its own queue, workers and files. */
export class SharedDatabase {
  private readonly apps = new Set<TestApp>();

  private constructor(
    private readonly url: string,
    private readonly drop: () => Promise<void>,
  ) {}

  static async sqlite(): Promise<SharedDatabase> {
    const file = join(await temporaryFolder(), "fermata.db");
    await createMigratedFile(file);
    return new SharedDatabase(`sqlite:${file}`, () => Promise.resolve());
  }

  static async mysql(): Promise<SharedDatabase> {
    const { url, drop } = await createMigratedMysqlDatabase();
    return new SharedDatabase(url, drop);
  }

  async open(options: TestAppOptions = {}): Promise<TestApp> {
    const settings = { storage: { url: this.url }, queue: { url: "memory:" }, secrets: SECRETS };
    const app = await startTestApp({ listen: false, ...options, settings });
    this.apps.add(app);
    return app;
  }

  /** Stops this app; the others keep running. */
  async stop(app: TestApp): Promise<void> {
    this.apps.delete(app);
    await app.close();
  }

  async stopAll(): Promise<void> {
    for (const app of [...this.apps]) await this.stop(app);
  }

  async close(): Promise<void> {
    await this.stopAll();
    await this.drop();
  }
}

export const SHARED_DATABASES = [
  ["SQLite", () => SharedDatabase.sqlite()],
  ["MySQL", () => SharedDatabase.mysql()],
] as const;
