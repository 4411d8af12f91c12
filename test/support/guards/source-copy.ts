import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { transformSync } from "esbuild";
import { REPOSITORY } from "../repository.js";
import { type Mutant, mutated } from "./guard.js";

/** Written by `npm run gen`, and in no commit. */
const GENERATED = ["adapters/http/generated", "adapters/client/generated", "adapters/web/generated"];

/** A copy of the sources, in which one file at a time is changed. The repository itself stays as it is. */
export class SourceCopy {
  readonly root = mkdtempSync(join(tmpdir(), "fermata-guards-"));

  constructor() {
    const options = { cwd: REPOSITORY, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
    const names = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], options);
    for (const name of [...names.split("\0"), ...GENERATED]) if (name !== "") this.copy(name);
    symlinkSync(join(REPOSITORY, "node_modules"), join(this.root, "node_modules"));
  }

  /** @returns puts the file back */
  apply(mutant: Mutant): () => void {
    const path = join(this.root, mutant.file);
    const before = readFileSync(path, "utf8");
    const after = mutated(before, mutant);
    // A mutant that cannot be loaded would look killed.
    transformSync(after, { loader: "ts", tsconfigRaw: { compilerOptions: { experimentalDecorators: true } } });
    writeFileSync(path, after);
    return () => writeFileSync(path, before);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }

  private copy(name: string): void {
    const to = join(this.root, name);
    mkdirSync(dirname(to), { recursive: true });
    try {
      cpSync(join(REPOSITORY, name), to, { recursive: true });
    } catch (error) {
      // Deleted, but not committed yet; or not generated.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}
