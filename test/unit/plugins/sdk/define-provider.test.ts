import { expect } from "chai";
import { definitionIssues } from "../../../../core/providers/definition-issues.js";
import {
  apiKey,
  baseUrl,
  defineProvider,
  defineSettings,
  type MusicProvider,
  pollMs,
  PROVIDER_PORT_VERSION,
  type ProviderHost,
  type SettingValues,
  timeoutMs,
} from "../../../../plugins/sdk/index.js";
import { FakeApi, json, providerHost, settingsOf } from "../../../support/provider-kit/index.js";

const SETTINGS = defineSettings({
  apiKey: apiKey("Key from the provider's console"),
  baseUrl: baseUrl("https://api.nightingale.example"),
  timeoutMs: timeoutMs(60_000),
  pollMs: pollMs(5_000),
  quality: { type: "string", default: "high", allowed: ["high", "low"], description: "Quality of the files" },
  region: { type: "string", allowed: ["eu", "us"], description: "Region of the key" },
  steps: { type: "integer", description: "Steps of a render" },
  public: { type: "boolean", default: false, description: "Whether tracks are public there" },
});

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Each line compiles only where the type is exactly this one. */
const TYPES: {
  readonly [Name in keyof typeof SETTINGS]: Equal<SettingValues<typeof SETTINGS>[Name], Expected[Name]>;
} = {
  apiKey: true,
  baseUrl: true,
  timeoutMs: true,
  pollMs: true,
  quality: true,
  region: true,
  steps: true,
  public: true,
};

interface Expected {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly pollMs: number;
  readonly quality: "high" | "low";
  readonly region: "eu" | "us" | undefined;
  readonly steps: number | undefined;
  readonly public: boolean;
}

const PROVIDER: MusicProvider = { submit: () => Promise.reject(new Error("not called here")) };

/** A definition with these settings; `create` hands its host over. */
function created(given: ProviderHost["settings"] = {}, fetchOf: typeof fetch = fetch): ProviderHost<typeof SETTINGS> {
  let host: ProviderHost<typeof SETTINGS> | null = null;
  const definition = defineProvider({
    id: "nightingale",
    label: "Nightingale",
    portVersion: PROVIDER_PORT_VERSION,
    concurrency: 1,
    settings: SETTINGS,
    models: [],
    capabilities: { idempotentSubmit: false, lookup: false, cancel: false },
    create: (typed) => {
      host = typed;
      return PROVIDER;
    },
  });
  const settings = settingsOf(definition, { apiKey: "key-of-the-test", ...given });
  definition.create(providerHost({ settings, fetch: fetchOf }));
  if (host === null) throw new Error("`create` was not called");
  return host;
}

describe("defineProvider", () => {
  it("types settings by their declarations", () => {
    expect(Object.values(TYPES)).to.not.include(false);
    const { settings } = created();
    const exact: Expected = settings;
    expect(exact.quality).to.equal("high");
    // @ts-expect-error: it may be undefined
    const steps: number = settings.steps;
    expect(steps).to.equal(undefined);
  });

  it("types literals in the definition itself, in `create` and in functions of the settings", () => {
    const definition = defineProvider({
      id: "nightingale",
      label: "Nightingale",
      portVersion: PROVIDER_PORT_VERSION,
      settings: {
        apiKey: { type: "string", secret: true, description: "Key" },
        seconds: { type: "integer", default: 30, description: "Seconds" },
        mode: { type: "string", default: "fast", allowed: ["fast", "good"], description: "Mode" },
      },
      concurrency: ({ seconds }) => seconds / 10,
      longestCallMs: ({ seconds }) => seconds * 1_000,
      hosts: ({ mode }) => [`${mode satisfies "fast" | "good"}.example.com`],
      models: [],
      capabilities: ({ apiKey: key }) => ({
        idempotentSubmit: false,
        lookup: key?.startsWith("a") ?? false,
        cancel: false,
      }),
      create: ({ settings }) => {
        expect(settings.mode satisfies "fast" | "good").to.equal("fast");
        return PROVIDER;
      },
    });
    const settings = settingsOf(definition, {});
    const { concurrency, longestCallMs, hosts, capabilities } = definition;
    const called = [concurrency, longestCallMs, hosts, capabilities].map(
      (member) => typeof member === "function" && member(settings, { sendsSource: true }),
    );
    expect(called).to.deep.equal([
      3,
      30_000,
      ["fast.example.com"],
      { idempotentSubmit: false, lookup: false, cancel: false },
    ]);
    expect(definitionIssues(definition)).to.deep.equal([]);
    expect(definition.create(providerHost({ settings }))).to.equal(PROVIDER);
  });

  it("hands on what the host has", () => {
    const host = created();
    host.logger.info("started");
    expect([typeof host.fetch, typeof host.clock.now(), host.models]).to.deep.equal(["function", "number", []]);
  });
});

describe("host.api", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    fake.on("GET", "/v1/me", json({}));
  });
  afterEach(() => fake.close());
  const call = { path: "/v1/me", signal: new AbortController().signal };

  it("calls the base URL of the settings with the key as a bearer token", async () => {
    await created({ baseUrl: `${fake.url}/` })
      .api()
      .call(call);
    expect(fake.requests.map(({ path, headers }) => [path, headers["authorization"]])).to.deep.equal([
      ["/v1/me", "Bearer key-of-the-test"],
    ]);
  });

  it("sends headers that are given in place of the bearer token", async () => {
    const host = created({ baseUrl: fake.url });
    await host.api({ headers: { "x-api-key": host.settings.apiKey } }).call(call);
    expect(fake.requests[0]?.headers)
      .to.include({ "x-api-key": "key-of-the-test" })
      .and.not.have.property("authorization");
  });

  it("sends the key to no other base URL on its own", async () => {
    await created().api({ baseUrl: fake.url }).call(call);
    expect(fake.requests[0]?.headers).to.not.have.property("authorization");
  });

  it("ends calls after the timeout of the settings, and uses the host's fetch", async () => {
    fake.spoil({ method: "GET", path: "/v1/me" }, "hang");
    const fetched: unknown[] = [];
    const host = created({ baseUrl: fake.url, timeoutMs: 1 }, (input, init) => {
      fetched.push(input);
      return fetch(input, init);
    });
    const thrown: unknown = await host
      .api()
      .call(call)
      .catch((error: unknown) => error);
    expect([(thrown as Error).message.slice(0, 19), fetched]).to.deep.equal([
      "No response in time",
      [`${fake.url}/v1/me`],
    ]);
  });

  it("classifies responses as its definition says", async () => {
    const api = created({ baseUrl: fake.url }).api({ classify: () => null });
    fake.on("GET", "/v1/me", json({ fine: true }, { status: 500 }));
    expect((await api.call(call)).json()).to.deep.equal({ fine: true });
  });

  it("refuses a base URL that is none, naming the setting", () => {
    expect(() => created({ baseUrl: "api.example.com" }).api()).to.throw(
      'baseUrl: "api.example.com"; allowed: an http or https URL',
    );
  });

  it("asks for a base URL and a timeout where the settings may have none", () => {
    const host = created() as unknown as ProviderHost<{ readonly apiKey: typeof SETTINGS.apiKey }>;
    // @ts-expect-error: neither is in these settings
    expect(() => host.api()).to.not.throw();
    expect(() => host.api({ baseUrl: fake.url, timeoutMs: 1_000 })).to.not.throw();
  });
});
