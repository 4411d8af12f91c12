import { expect } from "chai";
import fc from "fast-check";
import { loadSettings, SettingsError } from "../../../config/load.js";
import { environmentName } from "../../../config/settings/definition.js";
import { resolveSettings } from "../../../config/load.js";
import { isSecretName } from "../../../adapters/observability/redact.js";
import { fuzzed } from "../../support/fuzz/fuzz.js";
import { aChange, changed, oddText, oddValue } from "../../support/fuzz/values.js";

/** The paths of all settings. */
const PATHS: readonly string[] = resolveSettings({ env: {}, cwd: "/tmp", isTerminal: false }).resolved.map(
  ({ path }) => path,
);
const SECRET = "hunter2-of-the-fuzz-test";

const SECRET_PATHS = PATHS.filter((path) => path.split(".").some(isSecretName));
const BROKEN_URLS = [
  ...[
    "mysql://root:SECRET@host:x/",
    "amqp://a:SECRET@",
    "mysql://SECRET@",
    "mysql:root:SECRET@h",
    " mysql://r:SECRET@h/a",
  ],
  ...[
    "//r:SECRET@h",
    "mysql://r:SECRET@h/a b\n",
    "s3://a:SECRET@b?c",
    "x://y?password=SECRET",
    "mysql://r:SECRET#@h/a",
  ],
].map((url) => url.replace("SECRET", SECRET));

/** `PATH: what is wrong; allowed: …`, or a name that nothing has. */
const LINE = /^[^\n]+: [^\n]*(allowed: |unknown setting|missing; |older name of )/;
const RAW =
  /\b(TypeError|RangeError|ReferenceError)\b|Cannot read propert|is not a function|\n\s+at \S+ \(|\[object Object\]/;

describe("Settings of any kind", () => {
  fuzzed(
    "load from the environment, or are refused by name",
    { short: 100, long: 20_000 },
    () =>
      fc.dictionary(
        fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom(...PATHS).map((path) => environmentName(path.split("."))) },
          { weight: 1, arbitrary: oddText.map((text) => `FERMATA_${text}`) },
          { weight: 1, arbitrary: fc.constantFrom(...PATHS).map((path) => `${environmentName(path.split("."))}__X`) },
        ),
        fc.oneof(
          oddText,
          oddValue.map((value) => JSON.stringify(value) ?? ""),
          fc.constantFrom("true", "5", "memory:"),
        ),
        { minKeys: 1, maxKeys: 3, noNullPrototype: true },
      ),
    (env) => expectDecided(() => void loadSettings({ env, cwd: "/tmp", isTerminal: false })),
  );

  fuzzed(
    "load from a file, or are refused by name",
    { short: 40, long: 8_000 },
    () =>
      fc.oneof(
        { weight: 4, arbitrary: trees.map((tree) => JSON.stringify(tree) ?? "") },
        { weight: 1, arbitrary: texts },
      ),
    (text) => {
      const sources = { env: { FERMATA_CONFIG: "fermata.yaml" }, cwd: "/tmp", isTerminal: false, readFile: () => text };
      expectDecided(() => void loadSettings(sources));
    },
  );

  fuzzed(
    "never show a secret where they are refused",
    { short: 40, long: 8_000 },
    () =>
      fc.record({
        given: fc.oneof(
          fc.tuple(fc.constantFrom(...SECRET_PATHS), fc.constantFrom(SECRET, `${SECRET}\n`, `\u0000${SECRET}`)),
          fc.tuple(fc.constantFrom("storage.url", "queue.url", "audio.url"), fc.constantFrom(...BROKEN_URLS)),
        ),
        isFile: fc.boolean(),
        others: fc.constantFrom({}, { FERMATA_HTTP__PORT: "x" }, { FERMATA_STORAGE__X: "1" }),
      }),
    ({ given: [path, value], isFile, others }) => {
      const tree = path.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
      const env = isFile
        ? { ...others, FERMATA_CONFIG: "f.yaml" }
        : { ...others, [environmentName(path.split("."))]: value };
      const message = refusalOf(
        () => void loadSettings({ env, cwd: "/tmp", isTerminal: false, readFile: () => JSON.stringify(tree) }),
      );
      expect(message ?? "").to.not.include(SECRET);
    },
  );
});

/** Files of settings: a few that exist, with values that do not fit. */
const trees = fc
  .tuple(fc.array(fc.tuple(fc.constantFrom(...PATHS), oddValue), { maxLength: 3 }), fc.array(aChange, { maxLength: 2 }))
  .map(([settings, changes]) => {
    const tree: Record<string, unknown> = {};
    for (const [path, value] of settings) put(tree, path.split("."), value);
    return changed(tree, changes);
  });

function put(tree: Record<string, unknown>, [name = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) tree[name] = value;
  else {
    const inner = (tree[name] ??= {});
    if (typeof inner === "object" && inner !== null) put(inner as Record<string, unknown>, rest, value);
  }
}

/** YAML that is no tree of settings, or none at all. */
const texts = fc.oneof(
  { weight: 30, arbitrary: oddText },
  { weight: 30, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
  {
    weight: 30,
    arbitrary: fc.constantFrom(
      "http: &a [*a]",
      "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nhttp: *c",
      "http: {port: 1, port: 2}",
      "http:\n\t- x",
      "--- \nhttp: {}\n---\nhttp: {}",
      "!!js/function 'x': 1",
      "http: !!binary x",
      "? [a, b]\n: c",
      "<<: {http: {port: 3}}",
      "http: 2026-11-25",
      "%YAML 9.9\n---\nhttp: {}",
    ),
  },
  // Deeper than the stack: each takes seconds.
  { weight: 1, arbitrary: fc.constantFrom(`${"- ".repeat(2_000)}x`, `{${"a: {".repeat(3_000)}`, "[".repeat(5_000)) },
);

/** The message of a refusal; null: the settings are fine. */
function refusalOf(load: () => void): string | null {
  try {
    load();
    return null;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    for (const line of error.lines) expect(line).to.match(LINE);
    return error.message;
  }
}

function expectDecided(load: () => void): void {
  expect(refusalOf(load) ?? "").to.not.match(RAW);
}
