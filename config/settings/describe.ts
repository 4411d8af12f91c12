import { environmentName, type Group, Leaf, Named, Own } from "./definition.js";

export interface SettingDescription {
  /** With `NAME` or `ID` in place of the operator's name. */
  readonly path: string;
  readonly type: string;
  readonly unit: string | null;
  readonly default: string;
  readonly env: string;
  readonly description: string;
  readonly secret: boolean;
}

/** Every setting of a group, in its order. */
export function describeGroup(group: Group, above: readonly string[] = []): SettingDescription[] {
  return Object.entries(group).flatMap(([name, node]) => {
    const path = [...above, name];
    if (node instanceof Named) return describeGroup(node.options.of, [...path, node.options.placeholder]);
    if (node instanceof Own) return [describeOwn(node, path)];
    if (!(node instanceof Leaf)) return describeGroup(node, path);
    const { type, unit = null, default: fallback, description, secret = false } = node.options;
    return [
      { path: path.join("."), type, unit, default: fallback.text, env: environmentName(path), description, secret },
    ];
  });
}

function describeOwn({ options: { description } }: Own, above: readonly string[]): SettingDescription {
  const path = [...above, "NAME"];
  const declared = "as the adapter declares";
  return {
    path: path.join("."),
    type: declared,
    unit: null,
    default: declared,
    env: environmentName(path),
    description,
    secret: false,
  };
}
