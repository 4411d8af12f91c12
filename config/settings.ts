import { SECRET_KEY_LENGTH_MIN } from "../adapters/crypto/secret-key.js";
import { formsOf } from "./adapters/built-in.js";
import { LOG_FORMATS, LOG_LEVELS } from "../adapters/observability/log-options.js";
import type { AdapterPort } from "../core/ports/adapter.js";
import { describeGroup, type SettingDescription } from "./settings/describe.js";
import { type GivenOf, type Group, type Leaf, Named, Own, type ValuesOf } from "./settings/definition.js";
import * as kind from "./settings/kinds.js";
import { admin, http, mcp, metrics, studio } from "./settings/http.js";
import { jobs } from "./settings/jobs.js";
import { ledger } from "./settings/ledger.js";
import * as providers from "./settings/providers.js";
import { retention } from "./settings/retention.js";
import { tracing } from "./settings/tracing.js";
import * as uploads from "./settings/uploads.js";
import { webhooks } from "./settings/webhooks.js";

const MIB = 1024 * 1024;

const perMinute = (of: number): Leaf<number> =>
  kind.integer({ default: of, min: 1, unit: "requests", description: "Most requests in a minute" });
const perDay = (of: number): Leaf<number> =>
  kind.integer({ default: of, min: 1, unit: "requests", description: "Most requests in a day" });

const tierLimits = (limits: "read" | "generation" | "write") => {
  const override = (window: "perMinute" | "perDay", period: string): Leaf<number> =>
    kind.integer({
      default: kind.workedOut(
        `\`rateLimits.${limits}.${window}\``,
        ({ at }) => at(`rateLimits.${limits}.${window}`) as number,
      ),
      min: 1,
      unit: "requests",
      description: `Most requests in a ${period} for accounts of this tier`,
    });
  return { perMinute: override("perMinute", "minute"), perDay: override("perDay", "day") };
};

const TIERS: Readonly<Record<string, { readonly maxConcurrent: number; readonly monthlyCredits: number }>> = {
  free: { maxConcurrent: 1, monthlyCredits: 50 },
  plus: { maxConcurrent: 3, monthlyCredits: 500 },
  pro: { maxConcurrent: 10, monthlyCredits: 2_000 },
};

const adapterUse = (port: AdapterPort): Leaf<string | null> =>
  kind.optional(
    kind.text({
      allowed: "a package name or a path",
      description: `Package or path of an adapter from elsewhere, which takes \`${port}.url\``,
    }),
    `the built-in of \`${port}.url\``,
  );

const adapterOptions = (port: AdapterPort): Own =>
  new Own({ description: `A setting of the adapter that \`${port}.use\` names` });

const DEFINITION = {
  dataDir: kind.path({
    default: kind.workedOut("`data`", () => "data"),
    description: "Directory of everything kept on this machine: database, audio, secret key",
  }),
  http,
  rateLimits: {
    read: { perMinute: perMinute(600), perDay: perDay(50_000) },
    generation: { perMinute: perMinute(12), perDay: perDay(500) },
    write: { perMinute: perMinute(60), perDay: perDay(5_000) },
    authFailures: {
      perMinute: kind.integer({
        default: 120,
        min: 1,
        unit: "requests",
        description: "Most failed authentications of one address in a minute",
      }),
    },
    anonymous: {
      concurrent: kind.integer({
        default: 64,
        min: 1,
        unit: "requests",
        description:
          "Most requests of one address under way at once that need no key: `/share`, `/audio`, `/docs`, " +
          "`/callbacks`, and those with a wrong key",
      }),
    },
    store: kind.choice(["memory", "shared"], {
      default: kind.workedOut("`memory`; `shared` with `http.processes` above 1", ({ at }) =>
        at("http.processes") === 1 ? "memory" : "shared",
      ),
      description: "Who counts requests: each process for itself, or all on one storage together",
    }),
  },
  tiers: new Named({
    placeholder: "NAME",
    pattern: /^[a-z0-9][a-z0-9_-]{0,29}$/,
    allowed: "up to 30 lower-case letters, digits, _ and -",
    defaults: Object.keys(TIERS),
    fromEnvironment: (word) => word.toLowerCase(),
    of: {
      maxConcurrent: kind.integer({
        default: kind.workedOut(
          "free `1`, plus `3`, pro `10`; required for others",
          ({ name }) => TIERS[name]?.maxConcurrent,
        ),
        min: 1,
        unit: "jobs",
        description: "Jobs of an account that may be queued or processing at once",
      }),
      monthlyCredits: kind.integer({
        default: kind.workedOut(
          "free `50`, plus `500`, pro `2000`; required for others",
          ({ name }) => TIERS[name]?.monthlyCredits,
        ),
        min: 0,
        unit: "credits",
        description: "Monthly credits after a renewal",
      }),
      rateLimits: { read: tierLimits("read"), generation: tierLimits("generation"), write: tierLimits("write") },
      uploads: uploads.ofTier,
    },
  }),
  jobs,
  routing: providers.routing,
  stemSplit: providers.stemSplit,
  vocalRemoval: providers.vocalRemoval,
  idempotency: {
    ttlHours: kind.duration({
      default: 24,
      max: 8_760,
      unit: "hours",
      description: "How long an idempotency key keeps its response; at least as long as `jobs.deadlineMinutes`",
    }),
  },
  ledger,
  breaker: {
    failures: kind.integer({
      default: 10,
      min: 1,
      max: 10_000,
      description:
        "Failures in a row after which a provider counts as unavailable. A model that its provider has not got " +
        "any more " +
        "is unavailable after one; its other models are not",
    }),
    openSeconds: kind.duration({
      default: 30,
      max: 86_400,
      unit: "seconds",
      description: "How long an unavailable provider, or model, is left alone before it is tried again",
    }),
  },
  webhooks,
  retention,
  secrets: {
    key: kind.secret({
      lengthMin: SECRET_KEY_LENGTH_MIN,
      description: "Signs URLs and seals stored secrets; created in the data directory when there is none",
    }),
    previousKey: kind.secret({
      lengthMin: SECRET_KEY_LENGTH_MIN,
      description: "A second key that is accepted while `secrets.key` is rotated; see When the key leaked",
    }),
  },
  storage: {
    use: adapterUse("storage"),
    url: kind.adapterUrl({
      default: kind.workedOut(
        "`sqlite:` and `fermata.sqlite` in `dataDir`",
        ({ at }) => `sqlite:${String(at("dataDir"))}/fermata.sqlite`,
      ),
      forms: formsOf("storage"),
      use: "storage.use",
      description: "The database",
    }),
    tablePrefix: kind.optional(
      kind.tablePrefix({
        description: "What the names of its tables begin with; installations from before there was a prefix have none",
      }),
      "as the installation in it has; `fermata_` in a new one",
    ),
    readUrl: kind.optional(
      kind.builtInUrl({
        forms: formsOf("storage"),
        description: "A replica of the database, for reads that may be old; see Three machines, then thirty",
      }),
    ),
    readLagSeconds: kind.integer({
      default: 5,
      min: 2,
      max: 3_600,
      unit: "seconds",
      description: "How old reads of `storage.readUrl` may be: a replica that is further behind is not used",
    }),
    options: adapterOptions("storage"),
  },
  queue: {
    use: adapterUse("queue"),
    url: kind.adapterUrl({
      default: "memory:",
      forms: formsOf("queue"),
      use: "queue.use",
      description: "What wakes workers",
    }),
    options: adapterOptions("queue"),
  },
  audio: {
    use: adapterUse("audio"),
    url: kind.adapterUrl({
      default: kind.workedOut("`file:` and `audio` in `dataDir`", ({ at }) => `file:${String(at("dataDir"))}/audio`),
      forms: formsOf("audio"),
      use: "audio.use",
      description: "Where audio files are kept",
    }),
    accessKeyId: kind.optional(
      kind.text({
        allowed: "a text that is not empty",
        description: "Access key for `s3:`; the other half is `audio.secretAccessKey`",
      }),
      "as the AWS SDK finds it",
    ),
    secretAccessKey: kind.secret({ lengthMin: 1, description: "Secret of `audio.accessKeyId`" }),
    redirect: kind.flag({
      default: true,
      description:
        "Whether players are sent on to the bucket of `s3:`, by links signed for the file; else all goes through " +
        "this server",
    }),
    urlTtlHours: kind.duration({
      default: 24,
      max: 8_760,
      unit: "hours",
      description: "How long a signed URL of an audio file works at least; up to a 24th longer",
    }),
    maxBytes: kind.integer({
      default: 256 * MIB,
      min: MIB,
      max: 16_384 * MIB,
      unit: "bytes",
      description: "Largest audio file that is taken from a provider or an import",
    }),
    analyser: kind.choice(["builtin", "none"], {
      default: "builtin",
      description:
        "What decodes audio to add length, waveform and preview where a provider gives none; `none` decodes nothing",
    }),
    options: adapterOptions("audio"),
  },
  uploads: uploads.uploads,
  logs: {
    level: kind.choice(LOG_LEVELS, { default: "info", description: "The least important lines that are written" }),
    format: kind.choice(LOG_FORMATS, {
      default: kind.workedOut("`pretty` on a terminal, else `json`", ({ isTerminal }) =>
        isTerminal ? "pretty" : "json",
      ),
      description: "How lines are written, to stderr",
    }),
  },
  metrics,
  tracing,
  admin,
  demo: {
    enabled: kind.flag({
      default: true,
      description: "Whether the first start on an empty data directory makes the account `demo`",
    }),
  },
  studio,
  mcp,
  pluginsDir: providers.pluginsDir,
  plugins: providers.plugins,
} as const satisfies Group;

/** The tree that `load.ts` walks. */
export const SETTINGS_DEFINITION: Group = DEFINITION;

/**
 * Everything that can be set; complete, checked and frozen. Paths are absolute, and URLs of adapters hold absolute
 * paths.
 */
export type Settings = ValuesOf<typeof DEFINITION>;

/**
 * Any of the settings, in the shape of the file: `{ http: { port: 9000 }, plugins: { synth: { keepStems: false } } }`.
 * A plugin's own settings have the names and values that the plugin declares; `loadSettings` and `compose` check them.
 */
export type SettingsOverrides = GivenOf<typeof DEFINITION>;

/** Every setting, in the order of the definition. */
export function describeSettings(): readonly SettingDescription[] {
  return describeGroup(DEFINITION);
}
