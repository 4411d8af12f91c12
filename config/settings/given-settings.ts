import { Leaf, Named, Own, camelCase, environmentName, environmentWord } from "./definition.js";
import type { GivenSetting, Group, Node } from "./definition.js";
import { refusedLine, unknownLine } from "./issues.js";

/** The variable that names the file. */
export const FILE_VARIABLE = "FERMATA_CONFIG";

const PREFIX = "FERMATA_";

/**
 * No settings: what Kubernetes sets for a service that is called `fermata`, what the tests of this repository read, and
 * what the commands for callers read.
 */
const FOREIGN_VARIABLE = new RegExp(
  "^FERMATA_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?|TEST_[A-Z0-9_]+" +
    "|URL|API_KEY|PROFILE|WEBHOOK_SECRET)$",
);

/** Older names of settings, which are read for one minor version after the change. */
const RENAMED: Readonly<Record<string, string>> = { "routing.standIns": "routing.fallbacks" };

/** A setting that was given by its older name. */
export interface RenamedSetting {
  readonly from: string;
  readonly to: string;
  /** The file or the environment variable. */
  readonly origin: string;
}

/** Stands for a setting that a plugin or an adapter declares: any value is accepted here. */
const ANY = new Leaf<unknown>({} as Leaf<unknown>["options"]);

/** The values of all sources by path; unknown names become issues here. */
export class GivenSettings {
  readonly issues: string[] = [];
  private readonly byPath = new Map<string, GivenSetting>();
  private readonly renamed = new Map<string, RenamedSetting & GivenSetting>();

  constructor(private readonly definition: Group) {}

  get(path: string): GivenSetting | undefined {
    return this.byPath.get(path);
  }

  /** The names directly under `path`. */
  namesUnder(path: string): string[] {
    const names = [...this.byPath.keys()]
      .filter((key) => key.startsWith(`${path}.`))
      .map((key) => key.slice(path.length + 1).split(".")[0] as string);
    return [...new Set(names)];
  }

  addTree(tree: unknown, origin: string): void {
    this.addNode(this.definition, tree, [], origin);
  }

  addEnvironment(env: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(env)) {
      if (!name.startsWith(PREFIX) || name === FILE_VARIABLE || FOREIGN_VARIABLE.test(name) || value === undefined)
        continue;
      const older = Object.keys(RENAMED).find((path) => environmentName(path.split(".")) === name);
      const path = this.pathOf(this.definition, name.slice(PREFIX.length).split("__"), []);
      if (older !== undefined) this.addRenamed(older, { value, origin: name, isText: true });
      else if (path === null)
        this.issues.push(
          unknownLine(
            name,
            name,
            this.knownPaths().map((known) => environmentName(known)),
          ),
        );
      else this.byPath.set(path.join("."), { value, origin: name, isText: true });
    }
  }

  private addNode(node: Node, value: unknown, path: readonly string[], origin: string): void {
    if (node instanceof Leaf) {
      this.byPath.set(path.join("."), { value, origin, isText: false });
      return;
    }
    // A group without anything under it is null in YAML.
    if (value === null || value === undefined) return;
    if (typeof value !== "object" || Array.isArray(value)) {
      this.issues.push(refusedLine(path.join(".") || "settings", origin, value, "a group of settings", false));
      return;
    }
    for (const [name, child] of Object.entries(value)) {
      const childPath = [...path, name];
      if (name.includes(".")) {
        this.addUnknown(childPath, origin);
        continue;
      }
      if (node instanceof Named) this.addNamed(node, name, child, childPath, origin);
      else if (node instanceof Own) this.addNode(ANY, child, childPath, origin);
      else if (Object.hasOwn(node, name)) this.addNode(node[name] as Node, child, childPath, origin);
      else if (Object.hasOwn(RENAMED, childPath.join(".")))
        this.addRenamed(childPath.join("."), { value: child, origin, isText: false });
      else this.addUnknown(childPath, origin);
    }
  }

  private addNamed(named: Named<Group>, name: string, value: unknown, path: readonly string[], origin: string): void {
    const { pattern, allowed, of, keepsOthers } = named.options;
    if (!pattern.test(name)) {
      this.issues.push(refusedLine(path.slice(0, -1).join("."), origin, name, allowed, false));
    } else if (typeof value === "string") {
      this.addUnknown(path, origin);
    } else if (keepsOthers && typeof value === "object" && value !== null && !Array.isArray(value)) {
      for (const [key, child] of Object.entries(value)) {
        this.addNode(Object.hasOwn(of, key) ? (of[key] as Node) : ANY, child, [...path, key], origin);
      }
    } else {
      this.addNode(of, value, path, origin);
    }
  }

  private addRenamed(from: string, { origin, ...setting }: GivenSetting): void {
    this.renamed.set(from, { from, to: RENAMED[from] as string, origin, ...setting });
  }

  /**
   * Moves the values of older names to the new ones. Both names of one setting are an issue, for any sources: it would
   * be unclear which of them holds. Call it after the last source.
   *
   * @returns the settings that were given by an older name
   */
  resolveRenamed(): readonly RenamedSetting[] {
    for (const { from, to, ...setting } of this.renamed.values()) {
      const other = this.byPath.get(to);
      if (other === undefined) this.byPath.set(to, setting);
      else
        this.issues.push(`${from} (${setting.origin}): older name of ${to}, which ${other.origin} sets; allowed: one`);
    }
    return [...this.renamed.values()];
  }

  private addUnknown(path: readonly string[], origin: string): void {
    const known = this.knownPaths().map((knownPath) => knownPath.join("."));
    this.issues.push(unknownLine(path.join("."), origin, known));
  }

  /** The setting that words of the environment name, or null. */
  private pathOf(node: Node, words: readonly string[], path: readonly string[]): string[] | null {
    const [word, ...others] = words;
    if (node instanceof Leaf) return word === undefined ? [...path] : null;
    if (word === undefined || word === "") return null;
    if (node instanceof Named) {
      const name = this.nameOf(node, word, path.join("."));
      return node.options.pattern.test(name) ? this.pathOfNamed(node, others, [...path, name]) : null;
    }
    if (node instanceof Own) return others.length === 0 ? [...path, camelCase(word)] : null;
    const name = Object.keys(node).find((candidate) => environmentWord(candidate) === word);
    return name === undefined ? null : this.pathOf(node[name] as Node, others, [...path, name]);
  }

  private pathOfNamed(named: Named<Group>, words: readonly string[], path: readonly string[]): string[] | null {
    const found = this.pathOf(named.options.of, words, path);
    const [word, ...others] = words;
    if (found !== null || !named.options.keepsOthers || word === undefined || word === "" || others.length > 0)
      return found;
    return [...path, camelCase(word)];
  }

  /** A name with `-` is found by the word with `_`, once a default or the file has named it. */
  private nameOf(named: Named<Group>, word: string, path: string): string {
    const known = [...named.options.defaults, ...this.namesUnder(path)];
    return known.find((name) => environmentWord(name) === word) ?? named.options.fromEnvironment(word);
  }

  private knownPaths(node: Node = this.definition, path: readonly string[] = []): (readonly string[])[] {
    if (node instanceof Leaf) return [path];
    if (node instanceof Named) {
      const names = new Set([...node.options.defaults, ...this.namesUnder(path.join("."))]);
      return [...names].flatMap((name) => this.knownPaths(node.options.of, [...path, name]));
    }
    if (node instanceof Own) return this.namesUnder(path.join(".")).map((name) => [...path, name]);
    return Object.entries(node).flatMap(([name, child]) => this.knownPaths(child, [...path, name]));
  }
}
