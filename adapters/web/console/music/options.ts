import type { Schemas } from "../api.js";

type Option = Schemas["ModelOption"];

/**
 * Options that are written as `name=value`, one a line, in the types that the model declares. What does not read as its
 * type stays text, which the API refuses by name.
 *
 * @throws {Error} a line without =
 */
export function optionsIn(text: string, declared: readonly Option[]): Record<string, string | number | boolean> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf("=");
      if (at < 1) throw new Error(`An option is written name=value; this is not: ${line}`);
      const [name, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
      return [name, valueOf(declared.find((one) => one.name === name)?.type, value)];
    }),
  );
}

function valueOf(type: Option["type"] | undefined, text: string): string | number | boolean {
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  const isNumber = (type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(text);
  return isNumber ? Number(text) : text;
}
