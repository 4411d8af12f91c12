import { execFile, spawnSync } from "node:child_process";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const SIZE_BYTES = 64 * 1024 * 1024;
const CHUNK = Buffer.alloc(1024 * 1024);

/** A file system in memory of its own at a folder, small enough to be filled. */
export class SmallVolume {
  private readonly filler: string;
  private readonly atExit = (): void =>
    void spawnSync("umount", ["--lazy", this.path], { stdio: "ignore", timeout: 10_000 });

  private constructor(private readonly path: string) {
    this.filler = join(path, "filler");
    process.once("exit", this.atExit);
  }

  /** @returns null where this user may not mount; the folder then stays what it was */
  static async mount(path: string): Promise<SmallVolume | null> {
    if (process.getuid?.() !== 0) return null;
    const isMounted = await run("mount", ["-t", "tmpfs", "-o", `size=${SIZE_BYTES}`, "fermata-test", path]).then(
      () => true,
      () => false,
    );
    return isMounted ? new SmallVolume(path) : null;
  }

  /** From now on nothing more can be written. */
  async fill(): Promise<void> {
    const file = await open(this.filler, "w");
    try {
      for (;;) await file.write(CHUNK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      await file.close();
    }
  }

  async free(): Promise<void> {
    await rm(this.filler, { force: true });
  }

  async unmount(): Promise<void> {
    process.off("exit", this.atExit);
    await run("umount", ["--lazy", this.path]);
  }
}
