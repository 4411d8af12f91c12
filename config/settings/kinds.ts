/** The kinds of settings: how each is checked, read from the environment and described. */
import { resolve } from "node:path";
import { z } from "zod";
import { completeUrl, formsText, hasForm, hostsIssue, type UrlForms } from "./adapter-url.js";
import { Leaf } from "./definition.js";
import { isAddress, isNetwork } from "./network-values.js";
import type { Default, DefaultContext, LeafOptions } from "./definition.js";

/** Options of every kind, in addition to its own bounds. */
interface About<T> {
  /** A constant, or what {@link workedOut} makes; without one the setting must be given. */
  readonly default?: T | Default<T>;
  readonly description: string;
  readonly unit?: string;
}

/** A default that is worked out, with the words that describe it. */
export function workedOut<T>(text: string, of: (context: DefaultContext) => T | undefined): Default<T> {
  return new WorkedOut(text, of);
}

class WorkedOut<T> implements Default<T> {
  constructor(
    readonly text: string,
    readonly of: (context: DefaultContext) => T | undefined,
  ) {}
}

function defaultOf<T>(given: T | Default<T> | undefined): Default<T> {
  if (given === undefined) return { of: () => undefined, text: "required" };
  if (given instanceof WorkedOut) return given as Default<T>;
  const value = given as T;
  return { of: () => value, text: defaultText(value) };
}

function defaultText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "none" : `\`${value.join(",")}\``;
  return `\`${String(value)}\``;
}

function leaf<T>(about: About<T>, kind: Omit<LeafOptions<T>, "default" | "description" | "unit">): Leaf<T> {
  const { description, unit } = about;
  return new Leaf<T>({
    ...kind,
    description,
    default: defaultOf(about.default),
    ...(unit === undefined ? {} : { unit }),
  });
}

const asIs = (text: string): unknown => text;
const toNumber = (text: string): unknown => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);
const toList = (text: string): string[] =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

export function text(about: About<string> & { readonly allowed?: string }): Leaf<string> {
  return leaf(about, {
    type: "text",
    allowed: about.allowed ?? "a text that is not empty",
    schema: z.string().min(1),
    fromText: asIs,
  });
}

/** What names of tables begin with: the longest of them, an index's, has 64 characters on MySQL. */
export function tablePrefix(about: About<string>): Leaf<string> {
  return leaf(about, {
    type: "text",
    allowed: "a lower-case letter, then up to 19 lower-case letters, digits and _",
    schema: z.string().regex(/^[a-z][a-z0-9_]{0,19}$/),
    fromText: asIs,
  });
}

/** A path; a relative one is seen from the directory the process was started in, and kept absolute. */
export function path(about: About<string>): Leaf<string> {
  return leaf(about, {
    type: "path",
    allowed: "a path",
    schema: z.string().min(1),
    fromText: asIs,
    finish: (value, { cwd }) => resolve(cwd, value),
  });
}

interface Bounds {
  readonly min: number;
  readonly max?: number;
}

function boundsText({ min, max }: Bounds): string {
  return max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
}

export function integer(about: About<number> & Bounds): Leaf<number> {
  const { min, max = Number.MAX_SAFE_INTEGER } = about;
  return leaf(about, {
    type: "integer",
    allowed: `an integer ${boundsText(about)}`,
    schema: z.int().min(min).max(max),
    fromText: toNumber,
  });
}

const PROCESSES_MAX = 256;

/** A number of processes, or one for each core of the machine. */
export function processes(about: About<number | "cores">): Leaf<number | "cores"> {
  return leaf<number | "cores">(about, {
    type: "integer or `cores`",
    allowed: `an integer from 1 to ${PROCESSES_MAX}, or cores`,
    schema: z.union([z.int().min(1).max(PROCESSES_MAX), z.literal("cores")]),
    fromText: toNumber,
  });
}

/** Fractions are allowed. */
export function number(about: About<number> & Bounds): Leaf<number> {
  const { min, max = Number.MAX_SAFE_INTEGER } = about;
  return leaf(about, {
    type: "number",
    allowed: `a number ${boundsText(about)}`,
    schema: z.number().min(min).max(max),
    fromText: toNumber,
  });
}

/** A length of time; fractions are allowed, zero is not. */
export function duration(about: About<number> & { readonly max: number }): Leaf<number> {
  return leaf(about, {
    type: "number",
    allowed: `a number above 0, at most ${about.max}`,
    schema: z.number().positive().max(about.max),
    fromText: toNumber,
  });
}

export function flag(about: About<boolean>): Leaf<boolean> {
  return leaf(about, { type: "boolean", allowed: "true or false", schema: z.boolean(), fromText: toFlag });
}

function toFlag(text: string): unknown {
  return text === "true" ? true : text === "false" ? false : text;
}

export function choice<const T extends string>(values: readonly T[], about: About<NoInfer<T>>): Leaf<T> {
  return leaf<T>(about, {
    type: values.map((value) => `\`${value}\``).join(" or "),
    allowed: values.join(", "),
    schema: z.custom<T>((value) => (values as readonly unknown[]).includes(value)),
    fromText: asIs,
  });
}

/** Items that `accepts` takes, each kept as `finish` makes it. */
export function list(
  about: About<readonly string[]> & { readonly items: string; readonly accepts: (item: string) => boolean },
): Leaf<readonly string[]> {
  return leaf<readonly string[]>(about, {
    type: `list of ${about.items}`,
    allowed: `a list of ${about.items}`,
    schema: z.array(z.string().refine(about.accepts)),
    fromText: toList,
  });
}

export function numbers(
  about: About<readonly number[]> & Bounds & { readonly lengthMax: number },
): Leaf<readonly number[]> {
  const { min, max = Number.MAX_SAFE_INTEGER, lengthMax } = about;
  return leaf<readonly number[]>(about, {
    type: "list of numbers",
    allowed: `a list of up to ${lengthMax} numbers ${boundsText(about)}`,
    schema: z.array(z.number().min(min).max(max)).max(lengthMax),
    fromText: (value) => toList(value).map(toNumber),
  });
}

/**
 * The same, or null. An empty text of the environment means null.
 *
 * @param text the meaning of the default
 * @param fallback the default; null unless given
 */
export function optional<T>(
  of: Leaf<T>,
  text = "none",
  fallback: (context: DefaultContext) => T | null = () => null,
): Leaf<T | null> {
  const { options } = of;
  return new Leaf<T | null>({
    ...options,
    default: { of: fallback, text },
    allowed: `${options.allowed}, or null for none`,
    schema: options.schema.nullable(),
    fromText: (value) => (value === "" ? null : options.fromText(value)),
    finish: (value, context) =>
      value === null || options.finish === undefined ? value : options.finish(value, context),
  });
}

/** Not shown anywhere. The default of an optional secret is none. */
export function secret(about: { readonly description: string; readonly lengthMin: number }): Leaf<string | null> {
  const { lengthMin, description } = about;
  return new Leaf<string | null>({
    type: "text",
    allowed: `a text of at least ${lengthMin} characters, or null for none`,
    schema: z.string().min(lengthMin).nullable(),
    fromText: (value) => (value === "" ? null : value),
    default: { of: () => null, text: "none" },
    description,
    secret: true,
  });
}

/** An http or https address without user, query and fragment; kept without the slash at its end. */
export function webAddress(about: About<string>): Leaf<string> {
  return leaf(about, {
    type: "URL",
    allowed: "an http:// or https:// URL without user, query and fragment",
    schema: z.string().refine(isWebAddress),
    fromText: asIs,
    finish: (value) => value.replace(/\/+$/, ""),
  });
}

function isWebAddress(value: string): boolean {
  if (!URL.canParse(value) || /[?#\s]/.test(value)) return false;
  const { protocol, username, password } = new URL(value);
  return (protocol === "http:" || protocol === "https:") && username === "" && password === "";
}

/** A URL of a built-in adapter. */
export function builtInUrl(about: About<string> & { readonly forms: UrlForms }): Leaf<string> {
  const { forms } = about;
  return leaf(about, {
    type: "URL",
    allowed: formsText(forms),
    schema: z.string().refine((value) => hasForm(value, forms)),
    explain: (value) => hostsIssue(value, forms),
    fromText: asIs,
    finish: (value, { cwd }) => completeUrl(value, forms, cwd),
  });
}

/**
 * A URL whose scheme chooses a built-in adapter, or that an adapter from elsewhere takes.
 *
 * @param about `use`: the setting that names the latter
 */
export function adapterUrl(about: About<string> & { readonly forms: UrlForms; readonly use: string }): Leaf<string> {
  const { use } = about;
  const builtIn = builtInUrl(about);
  const fromElsewhere = leaf<string>(
    { description: about.description },
    {
      type: "URL",
      allowed: `a URL of the adapter that ${use} names`,
      schema: z.string().regex(/^[a-z][a-z0-9+.-]*:/),
      fromText: asIs,
    },
  );
  const isElsewhere = ({ at }: DefaultContext): boolean => at(use) !== null;
  return new Leaf({
    ...builtIn.options,
    instead: (context) => (isElsewhere(context) ? fromElsewhere.options : null),
  });
}

const PROXY_RANGES = ["loopback", "linklocal", "uniquelocal"];

/** What Express takes as `trust proxy`: whether, how many hops, or which addresses. */
export type TrustProxy = boolean | number | readonly string[];

export function trustProxy(about: About<TrustProxy>): Leaf<TrustProxy> {
  const isRange = (value: string): boolean => isAddress(value) || isNetwork(value) || PROXY_RANGES.includes(value);
  return leaf<TrustProxy>(about, {
    type: "boolean, integer or list of networks",
    allowed: `true, false, a number of hops, or a list of addresses, CIDR networks, ${PROXY_RANGES.join(", ")}`,
    schema: z.union([z.boolean(), z.int().min(0), z.array(z.string().refine(isRange)).min(1)]),
    fromText: (value) => {
      const scalar = toNumber(value);
      if (typeof scalar === "number") return scalar;
      const flagged = toFlag(value);
      return typeof flagged === "boolean" ? flagged : toList(value);
    },
  });
}
