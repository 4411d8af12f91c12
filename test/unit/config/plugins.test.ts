import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { openProviderSandbox } from "../../../adapters/sandbox/index.js";
import { loadSettings } from "../../../config/load.js";
import { BUILT_IN, type LoadedPlugin, loadPlugins, startPlugin } from "../../../config/plugins.js";
import { longestCallsOf } from "../../../core/providers/definition-parts.js";
import { SettingsError } from "../../../config/settings/issues.js";
import {
  type CallKind,
  defineProvider,
  type MusicProvider,
  PROVIDER_PORT_VERSION,
  type ProviderDefinition,
} from "../../../plugins/sdk/index.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";

const NO_CAPABILITIES = { idempotentSubmit: false, lookup: false, cancel: false };

function aPlugin(id: string, overrides: Partial<ProviderDefinition> = {}): ProviderDefinition {
  const model = { name: "V1", creditCost: 1, supportsLyrics: true, supportsInstrumental: true, duration: null };
  return defineProvider({
    id,
    label: id,
    portVersion: PROVIDER_PORT_VERSION,
    concurrency: 1,
    settings: {},
    models: [{ ...model, id: `${id}/v1` }],
    capabilities: NO_CAPABILITIES,
    create: () => ({ submit: () => Promise.reject(new Error("nothing is made here")) }),
    ...overrides,
  });
}

function load(
  overrides: Record<string, unknown>,
  given: readonly ProviderDefinition[] = [aPlugin("a"), aPlugin("b")],
): Promise<LoadedPlugin[]> {
  return loadPlugins(loadSettings({ env: {}, cwd: "/", overrides }), given);
}

async function issuesOf(
  overrides: Record<string, unknown>,
  given?: readonly ProviderDefinition[],
): Promise<readonly string[]> {
  const error: unknown = await load(overrides, given).catch((caught: unknown) => caught);
  return error instanceof SettingsError ? error.lines : [`no settings error: ${String(error)}`];
}

describe("plugins of config", () => {
  it("are named with the variable of a key that is missing, which is not called wrong", async () => {
    const error: unknown = await load({ plugins: { elevenlabs: { enabled: true } } }, []).catch(
      (caught: unknown) => caught,
    );
    expect((error as Error).message).to.equal(
      "A setting is missing: plugins.elevenlabs.apiKey: missing; set it, or FERMATA_PLUGINS__ELEVENLABS__API_KEY; " +
        "allowed: a text that is not empty",
    );
  });

  it("are named by the id that was meant, where there is none of the given one", async () => {
    const [byId] = await issuesOf({ plugins: { elevenlab: { enabled: true } } }, []);
    expect(byId).to.match(
      /^plugins\.elevenlab \(built-in\): there is no built-in plugin of this id; did you mean elevenlabs\? \(/,
    );
    const [byUse] = await issuesOf({ plugins: { voices: { enabled: true, use: "eleven-labs" } } }, []);
    expect(byUse).to.match(
      /^plugins\.voices \(eleven-labs\): eleven-labs cannot be loaded: .*; did you mean elevenlabs\?$/,
    );
    const [other] = await issuesOf({ plugins: { "something-else": { enabled: true } } }, []);
    expect(other).to.not.include("did you mean");
  });

  it("of a package are configured by their own id: only built-in ones may have another", async () => {
    const use = fileURLToPath(new URL(`../../../plugins/synth/index${import.meta.url.slice(-3)}`, import.meta.url));
    expect(await issuesOf({ plugins: { night: { enabled: true, use } } }, [])).to.deep.equal([
      `plugins.night (${use}): it is the plugin of "synth"; configure it as plugins.synth ` +
        "(only built-in plugins may run under a second id)",
    ]);
  });

  it("may stand in for each other, each once", async () => {
    const loaded = await load({ routing: { fallbacks: ["a/v1 > b/v1"] } });
    expect(loaded.map(({ definition: { id } }) => id)).to.deep.equal(["synth", "a", "b"]);
    expect(await issuesOf({ routing: { fallbacks: ["a/v1 > b/v1 > a/v1"] } })).to.deep.equal([
      "routing.fallbacks: a/v1 is in the chain a/v1 > b/v1 > a/v1 twice; allowed: once",
    ]);
    expect(await issuesOf({ routing: { fallbacks: ["a/v1 > b/v1", "a/v1 > synth/song"] } })).to.deep.equal([
      "routing.fallbacks: a/v1 begins more than one chain; allowed: one",
    ]);
    expect(await issuesOf({ stemSplit: { providers: ["synth", "a", "synth"] } })).to.deep.equal([
      "stemSplit.providers: synth is there twice; allowed: once",
    ]);
  });

  it("must have the models that stand in for others", async () => {
    const [line = ""] = await issuesOf({ routing: { fallbacks: ["a/v1 > c/v9"] } });
    expect(line).to.match(
      /^routing\.fallbacks: there is no model "c\/v9" \(synth\/instrumental, synth\/song, a\/v1, b\/v1\)$/,
    );
  });

  it("have no model that renders for longer than the key of its job lives", async () => {
    const slow = aPlugin("slow");
    const models = slow.models.map((model) => ({ ...model, renderDeadlineMinutes: 120 }));
    const overrides = { jobs: { queueDeadlineMinutes: 30, renderDeadlineMinutes: 30 }, idempotency: { ttlHours: 2 } };
    expect(await issuesOf(overrides, [{ ...slow, models }])).to.deep.equal([
      "jobs.queueDeadlineMinutes + plugins.slow: renderDeadlineMinutes of slow/v1: 150 is not allowed; allowed: " +
        "at most 120 minutes, " +
        "since idempotency.ttlHours is 2: a job never outlives its idempotency key",
    ]);
    expect(await load({ ...overrides, idempotency: { ttlHours: 3 } }, [{ ...slow, models }])).to.have.length(2);
  });

  it("may be built in under another id, with the models that config names", async () => {
    const models = [{ id: "gpu-box/fast", name: "Fast", creditCost: 2 }];
    const [plugin] = (
      await load(
        { plugins: { "gpu-box": { enabled: true, use: "http-model", baseUrl: "http://10.0.0.5:8000", models } } },
        [],
      )
    ).filter(({ definition: { id } }) => id === "gpu-box");
    expect(plugin?.definition.label).to.equal("Model server (gpu-box)");
    expect(plugin?.models.map(({ id }) => id)).to.deep.equal(["gpu-box/fast"]);
  });

  it("have the models that their settings offer, and those that config adds", async () => {
    const model = { name: "M", creditCost: 1, supportsLyrics: false, supportsInstrumental: true, duration: null };
    const travelling = aPlugin("travelling", {
      settings: { region: { type: "string", default: "north", description: "Where" } },
      models: ["north", "south"].map((name) => ({ ...model, id: `travelling/${name}` })),
      offersModel: ({ id }, { region }) => id === `travelling/${String(region)}`,
    });
    const modelsWith = async (own: object): Promise<unknown> => {
      const loaded = await load({ plugins: { travelling: { enabled: true, ...own } } }, [travelling]);
      return loaded.find(({ definition: { id } }) => id === "travelling")?.models.map(({ id }) => id);
    };
    expect(await modelsWith({})).to.deep.equal(["travelling/north"]);
    expect(await modelsWith({ region: "south" })).to.deep.equal(["travelling/south"]);
    const models = [{ id: "travelling/east", name: "East", creditCost: 2 }];
    expect(await modelsWith({ models })).to.deep.equal(["travelling/north", "travelling/east"]);
  });

  it("that are off need not know the capabilities that they would have", async () => {
    const picky = aPlugin("picky", {
      settings: { region: { type: "string", required: true, description: "Where" } },
      capabilities: ({ region }) => ({ ...NO_CAPABILITIES, cancel: (region as string).length > 1 }),
    });
    const loaded = await load({ plugins: { picky: { enabled: false } } }, [picky]);
    expect(loaded.find(({ definition: { id } }) => id === "picky")?.capabilities.cancel).to.equal(false);
  });
});

describe("built-in plugins", () => {
  for (const [id, builtIn] of Object.entries(BUILT_IN)) {
    it(`${id} loads with nothing but the settings that it requires`, async () => {
      const { settings } = (await builtIn()).default;
      const required = Object.entries(settings).filter(([, setting]) => setting.required === true);
      const given = Object.fromEntries(
        required.map(([name, { type }]) => [name, type === "string" ? "a-value-of-a-test" : 1]),
      );
      const loaded = await load({ plugins: { [id]: { enabled: true, ...given } } }, []);
      expect(loaded.some(({ definition, enabled }) => definition.id === id && enabled)).to.equal(true);
    });
  }
});

type LongestCall = readonly [settings: Record<string, number>, longestMs: number, withoutSourceMs?: number];

/** With these settings, in ms: of a call that sends source audio, and of others where that differs. */
const LONGEST_CALLS: Readonly<Record<string, LongestCall>> = {
  "ace-step": [{ timeoutMs: 5_000 }, 10_000],
  audioshake: [{ timeoutMs: 5_000, uploadTimeoutMs: 99_000 }, 104_000, 100_000],
  beatoven: [{ timeoutMs: 5_000 }, 5_000],
  comfyui: [{ timeoutMs: 5_000, uploadTimeoutMs: 9_000 }, 15_000],
  elevenlabs: [{ timeoutMs: 5_000 }, 15_000],
  fal: [{ timeoutMs: 5_000, uploadTimeoutMs: 99_000 }, 99_000, 10_000],
  "http-model": [{ timeoutSeconds: 5 }, 5_000],
  lalal: [{ timeoutMs: 5_000, uploadTimeoutMs: 9_000 }, 14_000, 5_000],
  loudly: [{ timeoutMs: 5_000 }, 30_000],
  lyria: [{ timeoutMs: 5_000 }, 35_000],
  minimax: [{ timeoutMs: 5_000 }, 5_000],
  mubert: [{ timeoutMs: 5_000 }, 10_000],
  mureka: [{ timeoutMs: 5_000, stemTimeoutMs: 9_000 }, 10_000, 5_000],
  musicai: [{ timeoutMs: 5_000, uploadTimeoutMs: 99_000 }, 109_000, 100_000],
  musicgpt: [{ timeoutMs: 5_000 }, 5_000],
  replicate: [{ timeoutMs: 5_000, uploadTimeoutMs: 9_000 }, 14_000, 5_000],
  sonauto: [{ timeoutMs: 5_000 }, 10_000],
  stability: [{ timeoutMs: 5_000 }, 5_000],
  "suno-compatible": [{ timeoutMs: 5_000 }, 5_000],
  synth: [{}, 1_800_000],
};

describe("built-in plugins and their longest call", () => {
  for (const [id, builtIn] of Object.entries(BUILT_IN)) {
    it(`${id} adds up its own time-outs`, async () => {
      const definition = (await builtIn()).default;
      const [given, withSource, plain = withSource] = LONGEST_CALLS[id] ?? [{}, 0];
      expect(Object.keys(definition.settings)).to.include.members(Object.keys(given));
      expect(longestCallsOf(definition, given)).to.deep.equal({ withSource, plain });
    });
  }
});

describe("a plugin that starts", () => {
  const start = async (overrides: Partial<ProviderDefinition>): Promise<string> => {
    const [, plugin] = await load({}, [aPlugin("a", overrides)]);
    if (plugin === undefined) throw new Error("It is loaded.");
    try {
      startPlugin(plugin, {
        clock: new ManualClock(),
        logger: new RecordingLogger(),
        fetch,
        sandbox: openProviderSandbox,
      });
      return "started";
    } catch (error) {
      return (error as Error).message;
    }
  };
  const provider = (methods: Partial<MusicProvider>): Partial<ProviderDefinition> => ({
    create: () => ({ submit: () => Promise.reject(new Error("nothing is made here")), ...methods }),
  });

  it("masks the secrets of its settings in what is shown of it", async () => {
    const settings: ProviderDefinition["settings"] = {
      apiKey: { type: "string", required: true, secret: true, description: "Key" },
    };
    const [, plugin] = await load({ plugins: { a: { apiKey: "nightjar-7" } } }, [aPlugin("a", { settings })]);
    if (plugin === undefined) throw new Error("It is loaded.");
    const host = { clock: new ManualClock(), logger: new RecordingLogger(), fetch, sandbox: openProviderSandbox };
    expect(startPlugin(plugin, host).masked?.('"nightjar-7" is no header')).to.equal('"[redacted]" is no header');
  });

  it("can do what its capabilities promise, also those that depend on settings", async () => {
    expect(await start({})).to.equal("started");
    expect(await start({ capabilities: () => ({ ...NO_CAPABILITIES, cancel: true }) })).to.equal(
      "The plugin a could not start: capabilities.cancel is true, and there is no method `cancel`",
    );
    expect(
      await start({
        capabilities: () => ({ ...NO_CAPABILITIES, cancel: true }),
        ...provider({ cancel: () => Promise.resolve("cancelled") }),
      }),
    ).to.equal("started");
    expect(await start({ capabilities: () => ({ ...NO_CAPABILITIES, callbacks: "sometimes" as never }) })).to.include(
      "capabilities.callbacks",
    );
  });

  it("has a `create` that returns the provider itself", async () => {
    const none = { "create: it returned null": null, "create: it returned a Promise": Promise.resolve({}) };
    for (const [says, created] of Object.entries(none))
      expect(await start({ create: () => created as never })).to.match(
        new RegExp(`^The plugin a could not start: ${says}; allowed: the provider`),
      );
    const thrown: unknown = undefined;
    const create = (): never => {
      throw thrown;
    };
    expect(await start({ create })).to.equal(
      "The plugin a could not start: create: it threw undefined; allowed: an Error whose message says what is wrong",
    );
  });

  it("says how long its calls may take, if at all, and gets half a minute more", async () => {
    const limitsOf = async (longestCallMs: ProviderDefinition["longestCallMs"]): Promise<readonly unknown[]> => {
      const settings = { timeoutMs: { type: "integer", default: 7_000, description: "Of one call" } } as const;
      const declared = longestCallMs === undefined ? {} : { longestCallMs };
      const [, plugin] = await load({}, [aPlugin("a", { settings, ...declared })]);
      if (plugin === undefined) throw new Error("It is loaded.");
      const { callLimitMs, plainCallLimitMs } = startPlugin(plugin, {
        clock: new ManualClock(),
        logger: new RecordingLogger(),
        fetch,
        sandbox: openProviderSandbox,
      });
      return [callLimitMs, plainCallLimitMs];
    };
    expect(await limitsOf(undefined)).to.deep.equal([1_230_000, 1_230_000]);
    expect(await limitsOf(5_000)).to.deep.equal([35_000, 35_000]);
    expect(await limitsOf(({ timeoutMs }) => 2 * Number(timeoutMs))).to.deep.equal([44_000, 44_000]);
    const byKind: ProviderDefinition["longestCallMs"] = (_settings, { sendsSource }) => (sendsSource ? 60_000 : 1_000);
    expect(await limitsOf(byKind)).to.deep.equal([90_000, 31_000]);
    for (const wrong of [0, 1_000.5, 86_400_001])
      for (const longestCallMs of [
        () => wrong,
        (_settings: unknown, { sendsSource }: CallKind) => (sendsSource ? 1_000 : wrong),
      ])
        expect(await start({ longestCallMs })).to.equal(
          `The plugin a could not start: longestCallMs: ${wrong}; allowed: a whole number of ms from 1000 to ` +
            "86400000, or a function of the settings that gives one",
        );
  });

  it("has a concurrency of at least one", async () => {
    for (const wrong of [0, Number.NaN, 1.5])
      expect(await start({ concurrency: () => wrong })).to.equal(
        `The plugin a could not start: concurrency: ${wrong}; allowed: a whole number from 1`,
      );
  });
});
