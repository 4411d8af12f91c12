/** The issue of a JSON pointer (RFC 6901); null when there is none. */
export function pointerIssue(pointer: string): string | null {
  if (pointer !== "" && !pointer.startsWith("/"))
    return "allowed: empty for the whole, or a JSON pointer such as /output/0";
  return /~([^01]|$)/.test(pointer) ? "in a JSON pointer, ~ is written ~0 and / is written ~1" : null;
}

/** What a JSON pointer leads to; undefined when it leads nowhere. */
export function at(document: unknown, pointer: string): unknown {
  if (pointer === "") return document;
  return pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((value, name) => {
      if (Array.isArray(value))
        return /^(0|[1-9]\d*)$/.test(name) ? (value as readonly unknown[])[Number(name)] : undefined;
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
      return (value as Readonly<Record<string, unknown>>)[name];
    }, document);
}
