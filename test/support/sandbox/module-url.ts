/** A module of this folder, as the tests themselves run: compiled, or the source. */
export function moduleUrl(name: string): URL {
  return new URL(`./${name}${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
}
