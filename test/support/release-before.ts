import { execFile } from "node:child_process";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryPath } from "./repository.js";

/** The package of the release before, without what a running process does not read. */
export const RELEASE_BEFORE = repositoryPath("test/fixtures/release-before.tgz");

/** Unpacks it into an empty folder. @returns its program */
export async function unpackReleaseBefore(folder: string): Promise<string> {
  await promisify(execFile)("tar", ["-xzf", RELEASE_BEFORE, "-C", folder]);
  await symlink(repositoryPath("node_modules"), join(folder, "node_modules"));
  return join(folder, "dist/config/main.js");
}
