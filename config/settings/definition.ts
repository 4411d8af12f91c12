/**
 * The parts of the definition of settings: leaves (one setting each), plain objects (groups), and named groups, whose
 * names are the operator's (`tiers.NAME`). Types, defaults, checks and the documentation all come from it.
 */
import type { z } from "zod";

/** A value as it was given, with where it came from. */
export interface GivenSetting {
  readonly value: unknown;
  /** The file or environment variable, as issues name it. */
  readonly origin: string;
  /** True for a text of the environment, which may be a number or a boolean. */
  readonly isText: boolean;
}

/** What a default may depend on. */
export interface DefaultContext {
  /** The name within a named group; empty elsewhere. */
  readonly name: string;
  readonly cwd: string;
  /** True when log lines are read on a terminal. */
  readonly isTerminal: boolean;
  /** The value of an earlier setting of the definition. */
  at(path: string): unknown;
}

export interface Default<T> {
  /** undefined: there is none, the setting must be given. */
  of(context: DefaultContext): T | undefined;
  /** As the documentation shows it. */
  readonly text: string;
}

export interface LeafOptions<T> {
  /** The type in words, as the documentation shows it: `integer`, `list of CIDR networks`. */
  readonly type: string;
  /** What is allowed, as the end of the sentence "allowed: …". */
  readonly allowed: string;
  readonly schema: z.ZodType<T>;
  /** What exactly is wrong with a value that `schema` refuses; null: `allowed` says enough. */
  explain?(value: unknown): string | null;
  /** What is wrong within a value that `schema` refuses, a line each: `[0].id: missing; allowed: …`; else `[]`. */
  issuesWithin?(value: unknown): readonly string[];
  /** The value that a text of the environment means; a text that means none is handed on, for `schema` to refuse. */
  fromText(text: string): unknown;
  readonly default: Default<T>;
  readonly description: string;
  readonly unit?: string;
  readonly secret?: boolean;
  /** The form that is kept, of a value that is allowed. */
  finish?(value: T, context: DefaultContext): T;
  /** What counts in place of this, because of an earlier setting; null: nothing does. */
  instead?(context: DefaultContext): LeafOptions<T> | null;
}

/** One setting. */
export class Leaf<T> {
  constructor(readonly options: LeafOptions<T>) {}
}

/** Settings by a name that the operator chooses. */
export class Named<G extends Group, Extra = unknown> {
  /** Carries a type only. */
  declare readonly extra: Extra;

  constructor(
    readonly options: {
      /** How the documentation writes the name: `NAME`. */
      readonly placeholder: string;
      readonly pattern: RegExp;
      readonly allowed: string;
      /** Names that are there unasked. */
      readonly defaults: readonly string[];
      readonly of: G;
      /** A name as the environment spells it (`MY_TIER`) when nothing else has named it yet. */
      readonly fromEnvironment: (word: string) => string;
      /** Whether names other than those of `of` are kept as `own`, for the plugin's declaration to check. */
      readonly keepsOthers?: boolean;
      /**
       * The setting of `of` that a name of `own` misspells, in an entry that gives the settings named `given`; null: it
       * may be the plugin's.
       */
      readonly misspelt?: (name: string, given: readonly string[]) => string | null;
    },
  ) {}
}

/** Settings that an adapter from elsewhere declares, by their names: kept as they were given, for it to check. */
export class Own {
  constructor(readonly options: { readonly description: string }) {}
}

export interface Group {
  readonly [name: string]: Node;
}

export type Node = Leaf<unknown> | Named<Group> | Own | Group;

export type ValuesOf<N> =
  N extends Leaf<infer T>
    ? T
    : N extends Named<infer G, infer Extra>
      ? { readonly [name: string]: ValuesOf<G> & Extra }
      : N extends Own
        ? Readonly<Record<string, GivenSetting>>
        : { readonly [K in keyof N]: ValuesOf<N[K]> };

/**
 * What a source may give of these settings, each by its name: the shape of the file. An absent group, or one that is
 * null, gives nothing.
 */
export type GivenOf<N> =
  N extends Leaf<infer T>
    ? T
    : N extends Named<infer G, infer Extra>
      ? { readonly [name: string]: (GivenOf<G> & OthersOf<Extra>) | null }
      : N extends Own
        ? { readonly [name: string]: unknown }
        : { readonly [K in keyof N]?: N[K] extends Leaf<unknown> ? GivenOf<N[K]> : GivenOf<N[K]> | null | undefined };

/** Names of which only a plugin knows the type, where `keepsOthers` lets them in. */
type OthersOf<Extra> = Extra extends { readonly own: unknown } ? { readonly [name: string]: unknown } : unknown;

/** `publicUrl` becomes `PUBLIC_URL`. */
export function environmentWord(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toUpperCase();
}

/** `PUBLIC_URL` becomes `publicUrl`. */
export function camelCase(word: string): string {
  return word.toLowerCase().replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The environment variable that gives a setting: `http.publicUrl` is `FERMATA_HTTP__PUBLIC_URL`. */
export function environmentName(path: readonly string[]): string {
  return `FERMATA_${path.map(environmentWord).join("__")}`;
}
