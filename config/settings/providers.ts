/** Settings of providers: which exist, and which does what. */
import { isAllowedHost } from "../../core/providers/outgoing-rule.js";
import { type GivenSetting, type Group, type Leaf, Named } from "./definition.js";
import { changesBetween, nearestOf } from "./issues.js";
import * as kind from "./kinds.js";
import { type GivenModel, models } from "./models.js";

/** The providers that are asked for a split, the specialists first; one that is off or cannot split is skipped. */
const SPLITTERS = [
  "lalal",
  "musicai",
  "audioshake",
  "elevenlabs",
  "replicate",
  "fal",
  "suno-compatible",
  "comfyui",
  "synth",
];

const split = (what: string, cost: number) => ({
  creditCost: kind.integer({ default: cost, min: 0, unit: "credits", description: `What ${what} costs` }),
  providers: kind.list({
    default: SPLITTERS,
    items: "provider ids",
    accepts: (id) => /^[a-z0-9][a-z0-9-]{0,29}$/.test(id),
    description: `The providers that are asked for ${what}, in this order; one that is off or cannot is skipped`,
  }),
});

/** Which models take the jobs of another one while its provider is unavailable. */
export const routing = {
  fallbacks: kind.list({
    default: [],
    items: "chains of model ids (`suno/v5 > mureka/auto > synth/song`)",
    accepts: (chain) => /^[a-z0-9][a-z0-9._/-]*( *> *[a-z0-9][a-z0-9._/-]*)+$/.test(chain),
    description:
      "For each model named first, the models that take its jobs, in this order, while its own provider takes none",
  }),
} as const satisfies Group;

export const stemSplit = split("a stem split", 8);
export const vocalRemoval = split("a vocal removal", 5);

/** Not among `plugins`, whose names are ids of plugins. */
export const pluginsDir = kind.optional(
  kind.path({
    description:
      "Folder that plugins are installed into (`npm install --prefix`); packages of `plugins.ID.use` are looked for " +
      "there first, then in the working directory",
  }),
);

/**
 * Which setting of every plugin is meant by a name that is none. What a plugin that is off declares is not known, and
 * its settings may stay: only an entry that does not say whether it is on is checked. `use` is too short for the usual
 * rule, by which it would be near `url` and `user`.
 */
function misspelt(name: string, given: readonly string[]): string | null {
  if (given.includes("enabled")) return null;
  if (nearestOf(name, ["enabled"]) !== null) return "enabled";
  const isUse = !given.includes("use") && name.length <= "use".length && changesBetween(name, "use") <= 1;
  return isUse ? "use" : null;
}

/** Providers by their id. */
export const plugins = new Named<
  {
    enabled: Leaf<boolean>;
    use: Leaf<string | null>;
    maxInFlight: Leaf<number | null>;
    allowHosts: Leaf<readonly string[]>;
    models: Leaf<readonly GivenModel[]>;
  },
  {
    /** The plugin's own settings, for {@link validateOwnSettings}. */ readonly own: Readonly<
      Record<string, GivenSetting>
    >;
  }
>({
  placeholder: "ID",
  pattern: /^[a-z0-9][a-z0-9-]{0,29}$/,
  allowed: "up to 30 lower-case letters, digits and -",
  defaults: ["synth"],
  fromEnvironment: (word) => word.toLowerCase().replaceAll("_", "-"),
  keepsOthers: true,
  misspelt,
  of: {
    enabled: kind.flag({
      default: kind.workedOut("synth `true`, others `false`", ({ name }) => name === "synth"),
      description: "Whether the provider takes jobs",
    }),
    use: kind.optional(
      kind.text({
        allowed: "a built-in id, a package name or a path",
        description: "Built-in id, package name or path of the plugin",
      }),
      "the built-in of that id",
    ),
    maxInFlight: kind.optional(
      kind.integer({
        min: 1,
        unit: "jobs",
        description: "Jobs that may be at the provider at once, in all processes together",
      }),
      "as the plugin declares",
    ),
    allowHosts: kind.list({
      default: [],
      items: "hosts (`api.example.com`, `*.example.com`) and origins (`http://10.0.0.5:8000`)",
      accepts: isAllowedHost,
      description:
        "Where the plugin may call in addition to its own hosts: hosts by https at public addresses, origins as " +
        "they are",
    }),
    models,
  },
});
