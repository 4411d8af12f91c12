import { Leaf, Named, Own } from "./definition.js";
import type { DefaultContext, GivenSetting, Group, Node } from "./definition.js";
import type { GivenSettings } from "./given-settings.js";
import { innerLine, notText, refusedLine, unknownLine } from "./issues.js";

/** A setting as it is in force. */
export interface ResolvedSetting {
  readonly path: string;
  readonly value: unknown;
  /** null: it is the default. */
  readonly given: GivenSetting | null;
  readonly isSecret: boolean;
}

/** Fills in defaults, converts and checks, in the order of the definition. */
export class Resolver {
  /** Every setting but those that plugins and adapters declare, in the order of the definition. */
  readonly resolved: ResolvedSetting[] = [];
  private readonly values = new Map<string, unknown>();

  constructor(
    private readonly given: GivenSettings,
    private readonly surroundings: Pick<DefaultContext, "cwd" | "isTerminal">,
  ) {}

  /** Frozen at every depth. With issues, which are added to those of `given`, it must not be used. */
  resolve(definition: Group): unknown {
    return this.node(definition, [], "");
  }

  private node(node: Node, path: readonly string[], name: string): unknown {
    if (node instanceof Leaf) return this.leaf(node, path.join("."), name);
    if (node instanceof Named) return Object.freeze(this.named(node, path));
    if (node instanceof Own) return this.own({}, path.join("."));
    const entries = Object.entries(node).map(([key, child]) => [key, this.node(child, [...path, key], name)]);
    return Object.freeze(Object.fromEntries(entries));
  }

  private named({ options }: Named<Group>, path: readonly string[]): object {
    const names = new Set([...options.defaults, ...this.given.namesUnder(path.join("."))]);
    const entries = [...names].map((name) => {
      const at = [...path, name];
      const values = this.node(options.of, at, name) as object;
      if (!options.keepsOthers) return [name, values];
      this.refuseMisspelt(options, at.join("."));
      return [name, Object.freeze({ ...values, own: this.own(options.of, at.join(".")) })];
    });
    return Object.fromEntries(entries) as object;
  }

  private refuseMisspelt({ of, misspelt }: Named<Group>["options"], path: string): void {
    const names = this.given.namesUnder(path);
    for (const name of names.filter((other) => !Object.hasOwn(of, other))) {
      const meant = misspelt?.(name, names) ?? null;
      const origin = this.given.get(`${path}.${name}`)?.origin;
      if (meant !== null && origin !== undefined)
        this.given.issues.push(unknownLine(`${path}.${name}`, origin, [`${path}.${meant}`]));
    }
  }

  private own(known: Group, path: string): object {
    const others = this.given.namesUnder(path).filter((name) => !Object.hasOwn(known, name));
    return Object.freeze(
      Object.fromEntries(others.map((name) => [name, Object.freeze(this.given.get(`${path}.${name}`))])),
    );
  }

  private leaf(leaf: Leaf<unknown>, path: string, name: string): unknown {
    const given = this.given.get(path);
    const context = this.context(name);
    const options = leaf.options.instead?.(context) ?? leaf.options;
    const raw = given === undefined ? options.default.of(context) : fromSource(options, given);
    const checked = options.schema.safeParse(raw);
    if (!checked.success || (given !== undefined && raw === undefined)) {
      const within = options.issuesWithin?.(raw) ?? [];
      this.given.issues.push(...within.map((issue) => innerLine(path, given?.origin ?? null, issue)));
      if (within.length === 0) this.given.issues.push(this.refused(options, path, given, raw));
      // What depends on this setting must not be reported as well.
      this.values.set(path, options.default.of(context));
      return undefined;
    }
    const value = options.finish === undefined ? checked.data : options.finish(checked.data, context);
    this.values.set(path, value);
    this.resolved.push({ path, value, given: given ?? null, isSecret: options.secret === true });
    return Array.isArray(value) ? Object.freeze(value) : value;
  }

  private refused(
    options: Leaf<unknown>["options"],
    path: string,
    given: GivenSetting | undefined,
    raw: unknown,
  ): string {
    const because = options.explain?.(raw) ?? (options.type === "text" && given !== undefined ? notText(given) : null);
    const allowed = because === null ? options.allowed : `${options.allowed}. ${because}`;
    return refusedLine(path, given?.origin ?? null, given?.value, allowed, options.secret === true);
  }

  private context(name: string): DefaultContext {
    return { name, ...this.surroundings, at: (path) => this.values.get(path) };
  }
}

function fromSource(options: Leaf<unknown>["options"], { value, isText }: GivenSetting): unknown {
  return isText && typeof value === "string" ? options.fromText(value) : value;
}
