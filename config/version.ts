import { readFileSync } from "node:fs";

let version: string | null = null;

/** The version in package.json, which lies one level higher from the sources than from what is built of them. */
export function packageVersion(): string {
  version ??= readVersion(["../package.json", "../../package.json"]);
  return version;
}

function readVersion(places: readonly string[]): string {
  for (const place of places) {
    try {
      return (JSON.parse(readFileSync(new URL(place, import.meta.url), "utf8")) as { version: string }).version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  throw new Error("The package.json of Fermata is missing.");
}
