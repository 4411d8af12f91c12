/** Keeps what is built as the release before: the tests of the next version run it next to their own. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { RELEASE_BEFORE } from "./release-before.js";
import { repositoryPath } from "./repository.js";

const run = promisify(execFile);

/** Of what `npm pack` packs. */
const READ_BY_PROCESSES = ["package.json", ...["adapters", "config", "core", "plugins"].map((name) => `dist/${name}`)];
const UNREAD = ["*.d.ts", "*.d.cts", "*.map"].map((pattern) => `--exclude=${pattern}`);
/** The same bytes for the same files. */
const REPRODUCIBLE = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];

const folder = await mkdtemp(join(tmpdir(), "fermata-release-"));
try {
  const unpacked = join(folder, "unpacked");
  await mkdir(unpacked);
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const { stdout } = await run("npm", pack, { cwd: repositoryPath() });
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  await run("tar", ["-xzf", join(folder, filename), "-C", unpacked, "--strip-components=1", ...UNREAD]);
  await run("tar", [...REPRODUCIBLE, "-czf", RELEASE_BEFORE, "-C", unpacked, ...READ_BY_PROCESSES]);
} finally {
  await rm(folder, { recursive: true, force: true });
}
