import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installPackage } from "./services.js";

const FOLDER = join(tmpdir(), "fermata-mysql9");
const ROOT = join(FOLDER, "root");

/**
 * Unpacks a MySQL 9 with its libraries into a folder of its own, which is kept for the next time: Debian's stable
 * releases come without it, and sid's package needs libraries too new for them, so it runs under chroot.
 *
 * @returns the folder
 * @throws {Error} saying what is missing
 */
export async function setUpMysql9(): Promise<string> {
  if (existsSync(ROOT)) return ROOT;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    throw new Error(
      "A MySQL 9 is set up by root on Debian. Elsewhere set FERMATA_TEST_MYSQL to the URL of one, with rights to " +
        "make databases.",
    );
  }
  if (!existsSync("/usr/sbin/debootstrap")) await installPackage("debootstrap");
  const [part, log] = [`${ROOT}.part`, join(FOLDER, "debootstrap.log")];
  rmSync(part, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  process.stdout.write(`== setting up MySQL in ${ROOT}\n`);
  try {
    const output = openSync(log, "w");
    execFileSync("debootstrap", ["--variant=minbase", "--include=mysql-server-core", "sid", part], {
      stdio: ["ignore", output, output],
    });
  } catch (cause) {
    throw new Error(`MySQL could not be fetched; see ${log}.`, { cause });
  }
  rmSync(join(part, "var/cache/apt"), { recursive: true, force: true });
  renameSync(part, ROOT);
  return ROOT;
}
