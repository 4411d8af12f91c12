import { expect } from "chai";
import { checkProvider } from "../../../../core/providers/check-provider.js";
import { longestCallIssues } from "../../../../core/providers/definition-parts.js";
import { definitionIssues } from "../../../../core/providers/definition-issues.js";

const MODEL = {
  id: "owl/v1",
  name: "Owl",
  creditCost: 3,
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: null,
};
const CAPABILITIES = { idempotentSubmit: false, lookup: false, cancel: false };
const OWL = {
  id: "owl",
  label: "Owl",
  portVersion: 2,
  concurrency: 2,
  settings: { size: { type: "integer", default: 3, minimum: 1, maximum: 9, description: "How large" } },
  models: [MODEL],
  capabilities: CAPABILITIES,
  create: () => ({ submit: () => Promise.reject(new Error("not asked")) }),
};

const setting = (given: object): object => ({
  ...OWL,
  settings: { size: { type: "integer", description: "How large", ...given } },
});
const model = (given: object): object => ({ ...OWL, models: [{ ...MODEL, ...given }] });
const capabilities = (given: object): object => ({ ...OWL, capabilities: { ...CAPABILITIES, ...given } });

/** A definition with one thing wrong, and the beginning of what is said of it. */
const ISSUES: readonly (readonly [definition: object, says: string])[] = [
  [{ ...OWL, portVersion: undefined }, "it speaks port version missing; this Fermata speaks 2"],
  [{ ...OWL, id: "owl_1", models: [] }, 'id: "owl_1"; allowed'],
  [{ ...OWL, id: "o".repeat(31), models: [] }, "id: "],
  [{ ...OWL, label: " " }, 'label: " "; allowed'],
  [{ ...OWL, label: { a: 1n } }, "label: object; allowed"],
  [{ ...OWL, concurrency: 2n }, "concurrency: bigint; allowed"],
  [{ ...OWL, concurrency: 1.5 }, "concurrency: 1.5; allowed"],
  [{ ...OWL, maxInFlight: 0 }, "maxInFlight: 0; allowed"],
  [{ ...OWL, hosts: "api.example.com" }, 'hosts: "api.example.com"; allowed: a list of host names'],
  [
    { ...OWL, hosts: ["https://api.example.com"] },
    'hosts: "https://api.example.com"; allowed: api.example.com, *.cdn.example.com',
  ],
  [{ ...OWL, longestCallMs: 999 }, "longestCallMs: 999; allowed: a whole number of ms from 1000 to 86400000, or"],
  [{ ...OWL, longestCallMs: 86_400_001 }, "longestCallMs: 86400001; allowed"],
  [{ ...OWL, longestCallMs: 1_000.5 }, "longestCallMs: 1000.5; allowed"],
  [{ ...OWL, create: undefined }, "create: missing"],
  [{ ...OWL, checkModel: true }, "checkModel: true; allowed"],
  [{ ...OWL, offersModel: "v1" }, 'offersModel: "v1"; allowed: a function'],
  [{ ...OWL, capabilites: {} }, "capabilites: a definition has no such member"],
  [{ ...OWL, settings: [] }, "settings: []; allowed"],
  [{ ...OWL, settings: { size: 3 } }, "settings.size: 3; allowed"],
  [{ ...OWL, settings: { use: { type: "string", description: "x" } } }, "settings.use: the name is taken"],
  [{ ...OWL, settings: { Size: { type: "string", description: "x" } } }, "settings.Size: its name is not in camelCase"],
  [
    { ...OWL, settings: { licenceToken: { type: "string", description: "x" } } },
    "settings.licenceToken: it is named like a secret",
  ],
  [
    { ...OWL, settings: { pin: { type: "string", description: "x", secret: true, default: "1" } } },
    "settings.pin.default: a secret has none",
  ],
  [setting({ type: "number" }), 'settings.size.type: "number"; allowed'],
  [setting({ description: "" }), "settings.size.description: missing"],
  [setting({ required: true, default: 1 }), "settings.size: what is required has no default"],
  [setting({ default: "3" }), 'settings.size.default: "3"; allowed: of type "integer"'],
  [setting({ default: 0, minimum: 1 }), "settings.size.default: 0; allowed: from 1"],
  [setting({ default: 10, maximum: 9 }), "settings.size.default: 10; allowed: up to 9"],
  [setting({ minimum: 9, maximum: 1 }), "settings.size: minimum 9 is above maximum 1"],
  [setting({ type: "string", default: "c", allowed: ["a", "b"] }), 'settings.size.default: "c"; allowed: a, b'],
  [setting({ alowed: [1] }), "settings.size.alowed: not a member of this type; allowed: type, description, required"],
  [setting({ canBeEmpty: true }), "settings.size.canBeEmpty: not a member of this type; allowed: type, description"],
  [setting({ type: "boolean", minimum: 1 }), "settings.size.minimum: not a member of this type; allowed: type"],
  [setting({ secret: "yes" }), 'settings.size.secret: "yes"; allowed: true, false'],
  [setting({ required: 1 }), "settings.size.required: 1; allowed: true, false"],
  [setting({ type: "string", canBeEmpty: 0 }), "settings.size.canBeEmpty: 0; allowed: true, false"],
  [setting({ type: "string", allowed: "a, b" }), 'settings.size.allowed: "a, b"; allowed: a list of texts'],
  [setting({ minimum: "1" }), 'settings.size.minimum: "1"; allowed: a number'],
  [{ ...OWL, models: {} }, "models: {}; allowed"],
  [{ ...OWL, models: [null] }, "models[0]: null; allowed"],
  [{ ...OWL, models: [MODEL, MODEL] }, 'models[1].id: "owl/v1" is there twice'],
  [model({ id: "Owl/v1" }), 'models[0].id: "Owl/v1"; allowed: <provider>/<name>'],
  [model({ id: "swan/v1" }), 'models[0].id: "swan/v1"; allowed: owl/<name>'],
  [model({ name: "" }), "models[0].name"],
  [model({ creditCost: -1 }), "models[0].creditCost: -1"],
  [model({ supportsLyrics: "yes" }), 'models[0].supportsLyrics: "yes"'],
  [model({ supportsInstrumental: undefined }), "models[0].supportsInstrumental: missing"],
  [model({ supportsLyrics: false, requiresLyrics: true }), "models[0].requiresLyrics: true"],
  [model({ lyricsMaxLength: 10_001 }), "models[0].lyricsMaxLength: 10001; allowed: 1 to 10000"],
  [model({ promptMaxLength: 0 }), "models[0].promptMaxLength: 0; allowed: 1 to 3000"],
  [model({ duration: 30 }), "models[0].duration: 30; allowed"],
  [model({ duration: { minSeconds: 0, maxSeconds: 9, defaultSeconds: 3 } }), "models[0].duration: "],
  [model({ duration: { minSeconds: 5, maxSeconds: 9, defaultSeconds: 10 } }), "models[0].duration: "],
  [model({ upstreamCost: { amount: "1", unit: "EUR" } }), "models[0].upstreamCost: "],
  [model({ renderDeadlineMinutes: 0 }), "models[0].renderDeadlineMinutes: 0; allowed: a number above 0, at most 10080"],
  [model({ renderDeadlineMinutes: 10_081 }), "models[0].renderDeadlineMinutes: 10081; allowed"],
  [model({ usualRenderSeconds: "90" }), 'models[0].usualRenderSeconds: "90"; allowed: a number above 0, at most 86400'],
  [model({ options: { at: new Date(0) } }), "models[0]: it holds what JSON cannot carry"],
  [model({ options: { many: 1n } }), "models[0]: it holds what JSON cannot carry"],
  [model({ creditcost: 3 }), "models[0].creditcost: a model has no such member; allowed: id, name, creditCost, "],
  [model({ lyricMaxLength: 9 }), "models[0].lyricMaxLength: a model has no such member; allowed: id, name, "],
  [capabilities({ callback: "signed" }), "capabilities.callback: there is no such capability; allowed: idempotent"],
  [capabilities({ stemsplit: {} }), "capabilities.stemsplit: there is no such capability; allowed: idempotentSubmit, "],
  [capabilities({ lookupSettlesMs: "5" }), 'capabilities.lookupSettlesMs: "5"; allowed: a whole number of ms from 0'],
  [
    capabilities({ stemSplit: { sources: "any", maxByte: 1 } }),
    "capabilities.stemSplit.maxByte: no such member; allowed: sources, contentTypes, maxBytes, maxSeconds, needsUrl, ",
  ],
  [
    capabilities({ stemSplit: { sources: "any", creditCost: 1 } }),
    "capabilities.stemSplit.creditCost: no such member; allowed: sources, ",
  ],
  [{ ...OWL, capabilities: null }, "capabilities: null; allowed"],
  [capabilities({ cancel: undefined }), "capabilities.cancel: missing; allowed"],
  [capabilities({ callbacks: true }), "capabilities.callbacks: true; allowed: none, hints, signed"],
  [capabilities({ stemSplit: true }), "capabilities.stemSplit: true; allowed"],
  [capabilities({ vocalRemoval: { sources: "mine" } }), 'capabilities.vocalRemoval.sources: "mine"; allowed: any, own'],
  [
    capabilities({ stemSplit: { sources: "any", contentTypes: ["audio/mp3"] } }),
    "capabilities.stemSplit.contentTypes: ",
  ],
  [capabilities({ stemSplit: { sources: "any", maxBytes: 0 } }), "capabilities.stemSplit.maxBytes: 0; allowed"],
];

describe("The issues of a provider's definition", () => {
  it("are none of one that is right, or goes by the settings", () => {
    const functions = {
      concurrency: () => 1,
      capabilities: () => CAPABILITIES,
      checkModel: () => null,
      longestCallMs: () => 1,
      hosts: () => [],
    };
    const dynamic = { ...OWL, ...functions, models: [], maxInFlight: 3 };
    expect([definitionIssues(OWL), definitionIssues(dynamic)]).to.deep.equal([[], []]);
    const whole = {
      ...MODEL,
      duration: { minSeconds: 1, maxSeconds: 9, defaultSeconds: 9 },
      renderDeadlineMinutes: 0.5,
      usualRenderSeconds: 90,
      options: { a: [1, { b: null, c: undefined }] },
    };
    expect(
      definitionIssues({
        ...OWL,
        models: [whole],
        longestCallMs: 1_000,
        hosts: ["api.example.com", "*.cdn.example.com"],
      }),
    ).to.deep.equal([]);
  });

  for (const value of [undefined, null, "owl", () => OWL]) {
    it(`are said of ${String(value)} instead of a definition`, () => {
      expect(definitionIssues(value)).to.deep.equal([
        "its default export is no provider definition; allowed: what `defineProvider` returns",
      ]);
    });
  }

  for (const [definition, says] of ISSUES) {
    it(`name one thing that is wrong: ${says}`, () => {
      const issues = definitionIssues(definition);
      expect(issues).to.have.lengthOf(1);
      expect(issues[0]).to.match(new RegExp(`^${says.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`));
    });
  }
});

const throws = (thrown: unknown) => (): never => {
  throw thrown;
};

/** What `create` is, and what is said of it. */
const NO_PROVIDERS: readonly (readonly [create: () => unknown, says: string])[] = [
  [() => null, "create: it returned null; allowed: the provider, an object with the method `submit`"],
  [() => undefined, "create: it returned undefined; allowed: the provider, an object with the method `submit`"],
  [() => "owl", "create: it returned a string; allowed: the provider, an object with the method `submit`"],
  ...[() => Promise.reject(new Error("too late")), () => new Promise(() => undefined)].map(
    (create) =>
      [
        create,
        "create: it returned a Promise; allowed: the provider itself, from a function that is not async",
      ] as const,
  ),
  [throws(undefined), "create: it threw undefined; allowed: an Error whose message says what is wrong"],
  [throws({ key: "k" }), "create: it threw an object; allowed: an Error whose message says what is wrong"],
  [
    throws(new Error()),
    "create: it threw an Error without a message; allowed: an Error whose message says what is wrong",
  ],
];

describe("The check of a provider", () => {
  /** What is said of a provider with these methods and capabilities. */
  const issuesOf = async (methods: readonly string[], given: object): Promise<readonly string[]> => {
    const create = (): object => Object.fromEntries(methods.map((name) => [name, () => Promise.resolve()]));
    return (await checkProvider({ ...capabilities(given), create })).issues;
  };

  it("finds nothing wrong with methods that fit the capabilities", async () => {
    expect(
      await issuesOf(["submit", "poll", "lookup", "cancel", "parseCallback", "close"], {
        lookup: true,
        cancel: true,
        callbacks: "signed",
      }),
    ).to.deep.equal([]);
    expect(await issuesOf(["submit", "pollMany"], { callbacks: "hints" })).to.deep.equal([]);
  });

  for (const [methods, given, says] of [
    [[], {}, /^submit: missing/],
    [["submit"], { cancel: true }, /^capabilities\.cancel is true, and there is no method/],
    [["submit", "lookup"], {}, /^there is a method `lookup`, and capabilities\.lookup is false/],
    [["submit", "poll"], { callbacks: "signed" }, /^capabilities\.callbacks is signed, and there is no method/],
    [["submit", "parseCallback"], {}, /^there is a method `parseCallback`, and capabilities\.callbacks is none/],
    [["submit"], { callbacks: "hints" }, /neither `poll` nor `pollMany`/],
  ] as const) {
    it(`compares methods and capabilities: ${String(says)}`, async () => {
      const issues = await issuesOf(methods, given);
      expect(issues).to.have.lengthOf(1);
      expect(issues[0]).to.match(says);
    });
  }

  it("starts it with example settings, closes it, and looks at what depends on them", async () => {
    const seen: unknown[] = [];
    const definition = {
      ...OWL,
      settings: {
        size: { type: "integer", default: 3, description: "x" },
        apiKey: { type: "string", required: true, secret: true, description: "x" },
        baseUrl: { type: "string", required: true, description: "x" },
        mode: { type: "string", required: true, allowed: ["fast"], description: "x" },
        note: { type: "string", description: "x" },
      },
      concurrency: () => 0,
      longestCallMs: ({ size }: { readonly size: number }) => size,
      capabilities: () => ({ lookup: false, cancel: false }),
      checkModel: () => "too loud",
      create: ({ settings }: { readonly settings: unknown }) => {
        seen.push(settings);
        return { submit: () => undefined, close: () => Promise.resolve(void seen.push("closed")) };
      },
    };
    expect((await checkProvider(definition)).issues).to.deep.equal([
      "capabilities.idempotentSubmit: missing; allowed: true, false",
      "concurrency: 0 for the default settings; allowed: a whole number from 1",
      longestCallIssues(3)[0],
      "checkModel refuses its own model owl/v1: too loud",
    ]);
    expect(seen).to.deep.equal([
      { size: 3, apiKey: "example-value", baseUrl: "http://127.0.0.1:9", mode: "fast" },
      "closed",
    ]);
  });

  it("names what `create` gives in place of a provider, and starts nothing of it", async () => {
    for (const [create, says] of NO_PROVIDERS)
      expect(await checkProvider({ ...OWL, create }), says).to.deep.include({ issues: [says], notes: [] });
  });

  it("leaves to the settings what `create` says of them", async () => {
    for (const thrown of [new Error("no region"), "no region", { message: "no region" }]) {
      const { issues, notes } = await checkProvider({
        ...OWL,
        create: throws(thrown),
      });
      expect(issues).to.deep.equal([]);
      expect(notes).to.have.length(1);
    }
  });
});
