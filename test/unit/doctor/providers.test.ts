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
import type { Clock } from "../../../core/ports/clock.js";
import type { CheckResult } from "../../../core/ports/self-check.js";
import { OutgoingRule } from "../../../core/providers/outgoing-rule.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
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
    checkBy(undefined, ...plugins);
  const checkBy = (clock: Clock | undefined, ...plugins: readonly LoadedPlugin[]): Promise<readonly CheckResult[]> =>
    checkProviders(plugins, new RecordingLogger(), new DnsAddressGuard(new AddressPolicy()), clock);
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

  const AUTHOR = "Report it to the author of the plugin pr, who corrects it; no setting is the cause.";
  const WRONG: readonly (readonly [result: unknown, says: string])[] = [
    [undefined, "the result: missing; allowed: an object with credit and warnings"],
    [{ credit: null, warnings: "x" }, 'warnings: "x"; allowed: a list of texts'],
    [{ credit: "5", warnings: [] }, 'credit: "5"; allowed: an object with amount and unit'],
    [{ credit: { amount: "5", unit: "USD" }, warnings: [] }, 'credit.amount: "5"; allowed: a number'],
  ];
  for (const [result, says] of WRONG) {
    it(`names the plugin whose probe returns what is not allowed, and its author: ${says}`, async () => {
      const pr = aPlugin(
        "pr",
        probed(() => Promise.resolve(result as ProbeResult)),
      );
      const [found, other] = await check(pr, aPlugin("rich", finds(null)));
      expect(found).to.deep.equal({
        name: "provider pr",
        result: "failed",
        message: `The plugin pr returned from probe what the host cannot use: ${says}.`,
        fix: AUTHOR,
      });
      expect(other?.result).to.equal("ok");
    });
  }

  it("names what a probe throws that is no failure, where the settings or the plugin may be the cause", async () => {
    const pr = aPlugin(
      "pr",
      probed(() => Promise.reject(new Error("no JSON"))),
    );
    const [found] = await check(pr);
    expect([found?.result, found?.message, found?.fix]).to.deep.equal([
      "failed",
      "Its probe throws what is no failure of the port: no JSON",
      "Correct plugins.pr, whose README lists its settings; if they are right, its author corrects the plugin.",
    ]);
  });

  it("gives up a probe or a close that never ends, and reports the others", async () => {
    const clock = new ManualClock();
    const never = (): Promise<never> => new Promise(() => undefined);
    const unclosed = (): Partial<MusicProvider> => ({ ...finds(null)(), close: never });
    const checked = checkBy(
      clock,
      aPlugin("pr", probed(never)),
      aPlugin("open", unclosed),
      aPlugin("rich", finds(null)),
    );
    await clock.advance(30_000);
    const found = await checked;
    const late = (id: string, call: string): string =>
      `The plugin ${id} did not end the call ${call} within 10000 ms, and ignores its signal.`;
    expect(shown(found)).to.deep.equal([
      ["provider pr", "failed", late("pr", "probe")],
      ["provider open", "warning", late("open", "close")],
      ["provider rich", "ok", "It takes the key."],
    ]);
    expect(found[0]?.fix).to.equal(AUTHOR);
  });
});
