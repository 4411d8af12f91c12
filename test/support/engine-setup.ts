import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installPackage } from "./services.js";

const FOLDER = join(tmpdir(), "fermata-engines");

/** Where the packages of a server come from. */
interface Source {
  readonly release: string;
  /** What to install into it. */
  readonly packages: readonly string[];
  /** Of a distribution other than Debian, with its corrections: `STOP SLAVE` ends Ubuntu's first MariaDB 10.6. */
  readonly other?: {
    readonly mirror: string;
    readonly components: readonly string[];
    readonly keyring: string;
    readonly corrections: string;
  };
}

/** An engine whose packages bring the keys that Ubuntu's are signed with. */
const WITH_KEYRING = "mariadb-11";
const UBUNTU = {
  mirror: "http://archive.ubuntu.com/ubuntu",
  components: ["main", "universe"],
  keyring: "usr/share/keyrings/ubuntu-archive-keyring.gpg",
  corrections: "jammy-updates",
};

/** Servers that this release of Debian does not have. */
const SOURCES = {
  "mysql-8.0": { release: "jammy", packages: ["mysql-server-core-8.0"], other: UBUNTU },
  "mysql-9": { release: "sid", packages: ["mysql-server-core"] },
  "mariadb-10.6": {
    release: "jammy",
    packages: ["mariadb-server-core-10.6", "mariadb-client-core-10.6"],
    other: UBUNTU,
  },
  "mariadb-11": {
    release: "trixie",
    packages: ["mariadb-server-core", "mariadb-client-core", "ubuntu-archive-keyring"],
  },
} satisfies Readonly<Record<string, Source>>;

export type Engine = keyof typeof SOURCES;

export const ENGINES = Object.keys(SOURCES) as readonly Engine[];

export function isEngine(name: string): name is Engine {
  return Object.hasOwn(SOURCES, name);
}

/**
 * Unpacks a server with its libraries into a folder of its own, which is kept for the next time: its packages need
 * libraries of their own release, so it runs under chroot, and the machine's packages do not change.
 *
 * @returns the folder
 * @throws {Error} saying what is missing
 */
export async function setUpEngine(engine: Engine): Promise<string> {
  const root = join(FOLDER, engine);
  if (existsSync(root)) return root;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    throw new Error(
      `${engine} is set up by root on Debian. Elsewhere set FERMATA_TEST_MYSQL to the URL of a server, with rights ` +
        "to make databases.",
    );
  }
  if (!existsSync("/usr/sbin/debootstrap")) await installPackage("debootstrap");
  const [part, log] = [`${root}.part`, join(FOLDER, `${engine}.log`)];
  rmSync(part, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  process.stdout.write(`== setting up ${engine} in ${root}\n`);
  try {
    const output = openSync(log, "w");
    for (const [program, ...args] of await steps(SOURCES[engine], part))
      execFileSync(program, args, { stdio: ["ignore", output, output] });
  } catch (cause) {
    throw new Error(`${engine} could not be fetched; see ${log}.`, { cause });
  }
  rmSync(join(part, "var/cache/apt"), { recursive: true, force: true });
  renameSync(part, root);
  return root;
}

type Step = readonly [program: string, ...args: string[]];

/** debootstrap takes no package from two releases. */
async function steps({ release, packages, other }: Source, root: string): Promise<readonly Step[]> {
  const bare = ["debootstrap", "--variant=minbase"] as const;
  if (other === undefined) return [[...bare, `--include=${packages.join(",")}`, release, root]];
  const { mirror, components, keyring, corrections } = other;
  const key = join(await setUpEngine(WITH_KEYRING), keyring);
  const sources = [release, corrections].map((suite) => `deb ${mirror} ${suite} ${components.join(" ")}\\n`).join("");
  const apt = ["chroot", root, "apt-get", "-q", "-y", "--no-install-recommends"] as const;
  return [
    [...bare, `--components=${components.join(",")}`, `--keyring=${key}`, release, root, mirror],
    ["chroot", root, "sh", "-c", `printf '${sources}' > /etc/apt/sources.list`],
    [...apt, "update"],
    [...apt, "install", ...packages],
  ];
}
