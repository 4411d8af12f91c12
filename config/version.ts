import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Where package.json may be: one level further up from the build than from the sources. */
const PLACES = ["../package.json", "../../package.json"] as const;

interface Found {
  readonly url: URL;
  readonly version: string;
}

let found: Found | null = null;

/** The version in package.json. */
export function packageVersion(): string {
  return ownPackage().version;
}

/** The folder that package.json is in, without a slash at its end. */
export function packageRoot(): string {
  return fileURLToPath(new URL(".", ownPackage().url)).slice(0, -1);
}

function ownPackage(): Found {
  found ??= readPackage();
  return found;
}

function readPackage(): Found {
  for (const place of PLACES) {
    const url = new URL(place, import.meta.url);
    try {
      return { url, version: (JSON.parse(readFileSync(url, "utf8")) as { version: string }).version };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  throw new Error("The package.json of Fermata is missing.");
}
