/** A module of this folder, in the form of the tests themselves: compiled, or the source. */
export function moduleUrl(name: string): URL {
  return new URL(`./${name}${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
}
