import { expect } from "chai";
import { AddressPolicy, DnsAddressGuard } from "../../../adapters/network/index.js";
import { checkProviders } from "../../../config/doctor-providers.js";
import type { LoadedPlugin } from "../../../config/plugins.js";
import {
  defineProvider,
  type MusicProvider,
  type ProbeResult,
  PROVIDER_PORT_VERSION,
  ProviderFailure,
} from "../../../plugins/sdk/index.js";
import type { CheckResult } from "../../../core/ports/self-check.js";
import { OutgoingRule } from "../../../core/providers/outgoing-rule.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";

const CAPABILITIES = { idempotentSubmit: false, lookup: false, cancel: false };

function aPlugin(id: string, create: () => Partial<MusicProvider>, enabled = true): LoadedPlugin {
  const definition = defineProvider({
    id,
    label: id,
    portVersion: PROVIDER_PORT_VERSION,
    concurrency: 1,
    settings: {},
    models: [],
    capabilities: CAPABILITIES,
    create: () => ({ submit: () => Promise.reject(new Error("a doctor makes no work")), ...create() }),
  });
  const outgoing = new OutgoingRule({ providerId: id, settings: {}, hosts: [], allowHosts: [] });
  return {
    definition,
    enabled,
    source: "given",
    settings: {},
    models: [],
    capabilities: CAPABILITIES,
    maxInFlight: null,
    outgoing,
  };
}

const probed =
  (probe: () => Promise<ProbeResult>): (() => Partial<MusicProvider>) =>
  () => ({ probe });
const fails = (kind: ProviderFailure["kind"]) => probed(() => Promise.reject(new ProviderFailure(kind, "their words")));
const finds = (credit: ProbeResult["credit"], ...warnings: string[]) =>
  probed(() => Promise.resolve({ credit, warnings }));

describe("the doctor's look at providers", () => {
  const check = (...plugins: readonly LoadedPlugin[]): Promise<readonly CheckResult[]> =>
    checkProviders(plugins, new RecordingLogger(), new DnsAddressGuard(new AddressPolicy()));
  const shown = (results: readonly CheckResult[]): (readonly [string, string, string])[] =>
    results.map(({ name, result, message }) => [name, result, message]);

  it("says that a key is accepted, and what credit is left where the provider reports it", async () => {
    const found = await check(aPlugin("rich", finds({ amount: 12.5, unit: "USD" })), aPlugin("silent", finds(null)));
    expect(shown(found)).to.deep.equal([
      ["provider rich", "ok", "It takes the key, 12.5 USD left."],
      ["provider silent", "ok", "It takes the key."],
    ]);
  });

  it("fails where work would fail: key refused, no credit, a plugin that cannot start", async () => {
    const broken = aPlugin("broken", () => {
      throw new Error("the mapping is no JSON");
    });
    const found = await check(
      aPlugin("key", fails("misconfigured")),
      aPlugin("poor", fails("out_of_credit")),
      aPlugin("empty", finds({ amount: 0, unit: "minutes" })),
      broken,
    );
    expect(shown(found)).to.deep.equal([
      ["provider key", "failed", "It refuses the key: their words"],
      ["provider poor", "failed", "No credit is left: their words"],
      ["provider empty", "failed", "It takes the key, 0 minutes left."],
      ["provider broken", "failed", "The plugin broken could not start: the mapping is no JSON"],
    ]);
    expect(found.every(({ fix }) => fix !== null)).to.equal(true);
  });

  it("warns where it could not find out, and of what the provider says besides", async () => {
    const found = await check(
      aPlugin("busy", fails("unavailable")),
      aPlugin("soon", finds({ amount: 1, unit: "USD" }, "the plan ends tomorrow")),
    );
    expect(shown(found)).to.deep.equal([
      ["provider busy", "warning", "It could not be asked (unavailable): their words"],
      ["provider soon", "warning", "the plan ends tomorrow"],
    ]);
  });

  it("leaves out what is off and what cannot be asked, and closes what it started", async () => {
    let closed = 0;
    const close = (): Promise<void> => {
      closed += 1;
      return Promise.resolve();
    };
    const quiet = aPlugin("quiet", () => ({ close }));
    const off = aPlugin("off", fails("misconfigured"), false);
    const asked = aPlugin("asked", () => ({ close, probe: () => Promise.reject(new ProviderFailure("gone", "x")) }));
    expect((await check(quiet, off, asked)).map(({ name }) => name)).to.deep.equal(["provider asked"]);
    expect(closed).to.equal(2);
  });
});
