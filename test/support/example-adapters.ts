import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { SystemClock } from "../../adapters/system/clock.js";
import { SystemRandom } from "../../adapters/system/random.js";
import type { AdapterDefinition, AdapterHost } from "../../core/ports/adapter.js";
import type { Logger } from "../../core/ports/logger.js";
import { withDefaults } from "../../core/providers/setting-defaults.js";
import { ended, InstalledPackage } from "./installed-package.js";
import { FermataProcess } from "./process.js";
import { repositoryPath } from "./repository.js";
import { freePort } from "./services.js";

const EXAMPLES = ["redis-streams-queue", "http-put-audio"];
const PACKAGES = ["@redis/client", "mocha", "chai", "fast-check", "fflate"];

/** The server of `http-put-audio`, running. */
export interface ExampleServer {
  readonly url: string;
  readonly token: string;
  /** The folder of its files. */
  readonly files: string;
  stop(): Promise<void>;
}

/** The examples of adapters, compiled in the folder of an author who has installed the packed package. */
export class ExampleAdapters {
  private constructor(readonly installed: InstalledPackage) {}

  static async open(): Promise<ExampleAdapters> {
    const installed = await InstalledPackage.open();
    process.once("exit", () => rmSync(installed.folder, { recursive: true, force: true }));
    await installed.addApp();
    for (const name of PACKAGES) await installed.install(name);
    for (const name of EXAMPLES) await installed.compileFolder(repositoryPath("test", "examples", name));
    return new ExampleAdapters(installed);
  }

  get folder(): string {
    return this.installed.folder;
  }

  /** @param path of the compiled file, in the folder */
  async definitionOf(path: string): Promise<AdapterDefinition> {
    const { default: definition } = (await import(pathToFileURL(join(this.folder, path)).href)) as {
      readonly default: AdapterDefinition;
    };
    return definition;
  }

  async open<Opened>(path: string, url: string, given: AdapterHost["settings"], logger: Logger): Promise<Opened> {
    const definition = await this.definitionOf(path);
    const settings = withDefaults(definition.settings, given);
    const host = { url, settings, logger, clock: new SystemClock(), random: new SystemRandom() };
    return (await definition.open(host)) as Opened;
  }

  /** Runs the suite as its author does; without --exit: a connection that is left open would keep it running. */
  async contract(example: string, env: Readonly<Record<string, string>>): Promise<void> {
    const mocha = join(this.folder, "node_modules", "mocha", "bin", "mocha.js");
    const { code, output } = await ended([mocha, "--no-config", `${example}/contract.js`], this.folder, env);
    expect(code, output).to.equal(0);
    expect(output).to.match(/\b(1[5-9]|[2-9]\d) passing/);
  }

  async startAudioServer(): Promise<ExampleServer> {
    const [files, token] = [await mkdtemp(join(this.folder, "files-")), "a-token-of-the-audio-server"];
    const env = { ROOT: files, TOKEN: token, PORT: String(await freePort()) };
    const child = new FermataProcess([], env, this.folder, join(this.folder, "http-put-audio", "server.js"));
    const [, url = ""] = await child.line(/^listening on (\S+)$/m);
    const stop = async (): Promise<void> => {
      expect(await child.stop()).to.equal(0);
    };
    return { url, token, files, stop };
  }
}

let opened: Promise<ExampleAdapters> | undefined;

/** One for all test files of this process. */
export function exampleAdapters(): Promise<ExampleAdapters> {
  return (opened ??= ExampleAdapters.open());
}
