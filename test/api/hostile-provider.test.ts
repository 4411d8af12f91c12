import { expect } from "chai";
import { AddressPolicy, DnsAddressGuard } from "../../adapters/network/index.js";
import type { JobReport } from "../../core/jobs/operate-jobs.js";
import { defineProvider, PROVIDER_PORT_VERSION, type ProviderHost } from "../../plugins/sdk/index.js";
import { dataOf } from "../support/api-client.js";
import { Canary } from "../support/canary.js";
import { type SubmitBehaviour, SCRIPTED_AUDIO, SCRIPTED_TRACK } from "../support/doubles/scripted-provider.js";
import { UNHEARD } from "../support/library-fixture.js";
import { bytes, FakeApi, json } from "../support/provider-kit/index.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const SIGNATURE = "signature=not-for-logs";

/** URLs in a provider's response, and the failure of each. */
const hostile = (port: number, listed: string): readonly (readonly [url: string, says: string])[] => [
  [`http://127.0.0.1:${port}`, "only https"],
  [`http://localhost:${port}`, "only https"],
  ["http://169.254.169.254", "only https"],
  // The https host of the vendor's base URL: the operator did not set its address.
  [`https://127.0.0.1:${port}`, "127.0.0.1 may not be connected to"],
  ["https://169.254.169.254", "neither among the plugin's hosts"],
  [`https://evil.example:${port}`, "neither among the plugin's hosts"],
  // A host that the plugin's definition lists, and that resolves to this machine.
  [`https://${listed}:${port}`, "(127.0.0.1) may not be connected to"],
];

/** Every name resolves to this machine. */
const rebinding = (): DnsAddressGuard => new DnsAddressGuard(new AddressPolicy(), () => Promise.resolve(["127.0.0.1"]));

describe("A provider whose responses contain URLs", () => {
  let canary: Canary;
  let vendor: FakeApi;
  let test: TestApp | null;
  beforeEach(async () => {
    [canary, vendor] = await Promise.all([Canary.open(), FakeApi.open()]);
    test = null;
  });
  afterEach(async () => {
    await test?.close();
    await Promise.all([canary.close(), vendor.close()]);
  });

  /** Everything about a job that operators can read. */
  function wordsOf({ attempts }: JobReport): string {
    const words = attempts.map(({ outcome, message }) => `${String(outcome)}: ${String(message)}`).join("\n");
    expect(words, "no signature is shown").to.not.include(SIGNATURE);
    expect(JSON.stringify(test?.logger.lines ?? []), "nor logged").to.not.include(SIGNATURE);
    return words;
  }

  async function endOf(app: TestApp, start: () => Promise<{ readonly id: string }>): Promise<JobReport> {
    const ended = new Set<string>();
    let notify = (): void => undefined;
    const off = app.app.events.on("job.ended", ({ generation: { id: endedId } }) => {
      ended.add(endedId);
      notify();
    });
    const { id } = await start();
    while (!ended.has(id)) await new Promise<void>((resolve) => (notify = resolve));
    off();
    return app.app.jobs.show(id);
  }

  it("cannot have a track uploaded to this machine, this network or an unlisted host", async () => {
    const cases = hostile(canary.port, "storage.googleapis.com");
    const ids = cases.map((_, index) => `musicai-${index}`);
    for (const [index, [origin]] of cases.entries()) {
      const downloadUrl = "https://storage.googleapis.com/track";
      vendor.on("GET", `/${index}/upload`, json({ uploadUrl: `${origin}/bucket/track?${SIGNATURE}`, downloadUrl }));
    }
    const plugins = ids.map(
      (id, index) => [id, { enabled: true, use: "musicai", apiKey: "key", baseUrl: `${vendor.url}/${index}` }] as const,
    );
    test = await startTestApp({
      ...UNHEARD,
      work: true,
      addressGuard: rebinding(),
      settings: {
        plugins: { synth: { enabled: false }, ...Object.fromEntries(plugins) },
        vocalRemoval: { providers: ids },
      },
    });
    const app = test;
    const { api, account } = await app.account();
    const generated = dataOf<{ id: string }>(await api.generate(undefined, { Prefer: "wait=30" }));
    const { tracks } = dataOf<{ tracks: { id: string }[] }>(await api.get(`/api/v1/generations/${generated.id}`));
    const track = { accountId: account.id, trackId: tracks[0]?.id ?? "" };
    // Each blocked provider leaves the job to the next one.
    const report = await endOf(app, () => app.app.splits.start({ kind: "vocal_removal", ...track }));
    expect([report.job.status, report.job.creditsCharged]).to.deep.equal(["failed", 0]);
    expect(report.attempts.map(({ providerId }) => providerId)).to.deep.equal(ids);
    for (const [index, line] of wordsOf(report).split("\n").entries())
      expect(line)
        .to.include("misconfigured: ")
        .and.to.include(`plugin musicai-${index} `)
        .and.to.include(cases[index]?.[1]);
    expect(
      vendor.requests.filter(({ method }) => method !== "GET"),
      "no job was created there",
    ).to.deep.equal([]);
    expect(canary.connections).to.equal(0);
  });

  /** A plugin that calls the URL in the prompt, through the host's fetch and along redirects. */
  function caller(hosts: readonly string[] | null, id = "caller") {
    const call = async (host: ProviderHost, url: string): Promise<void> =>
      void (await host.fetch(url, { method: "POST", body: "audio" }));
    return defineProvider({
      id,
      label: "Caller",
      portVersion: PROVIDER_PORT_VERSION,
      concurrency: 1,
      ...(hosts === null ? {} : { hosts }),
      settings: { baseUrl: { type: "string", description: "where", default: vendor.url } },
      models: [
        {
          id: `${id}/song`,
          name: "Song",
          creditCost: 1,
          supportsLyrics: false,
          supportsInstrumental: true,
          duration: null,
        },
      ],
      capabilities: { idempotentSubmit: true, lookup: false, cancel: false },
      create: (host) => ({
        async submit(request) {
          await call(host, request.operation === "music" ? request.prompt : "");
          return { state: "completed", tracks: [SCRIPTED_TRACK] };
        },
      }),
    });
  }

  const generate = (app: TestApp, prompt: string, id = "caller"): Promise<JobReport> =>
    endOf(app, async () => {
      const { api } = await app.account();
      return dataOf<{ id: string }>(await api.generate({ model_id: `${id}/song`, prompt, instrumental: true }));
    });

  it("cannot redirect its calls to another host, by a URL or a redirect", async () => {
    const cases = hostile(canary.port, "api.listed.example").flatMap(([origin, says], index) => {
      const location = `${origin}/x?${SIGNATURE}`;
      vendor.on("POST", `/go/${index}`, { status: 307, headers: { location } });
      return [location, `${vendor.url}/go/${index}`].map((url) => ({ url, says }));
    });
    // Separate, since a provider whose call was refused gets no further jobs for a while.
    const plugins = cases.map((_, index) => caller(["api.listed.example"], `caller-${index}`));
    test = await startTestApp({ ...UNHEARD, work: true, plugins, addressGuard: rebinding() });
    for (const [index, { url, says }] of cases.entries()) {
      const report = await generate(test, url, `caller-${index}`);
      expect(report.job.status, url).to.equal("failed");
      expect(wordsOf(report), url)
        .to.include("misconfigured: ")
        .and.to.include(`plugin caller-${index} `)
        .and.to.include(says);
    }
    expect(canary.connections).to.equal(0);
    expect(vendor.requests).to.have.lengthOf(hostile(0, "").length);
  });

  it("reaches the origin in its settings, and the hosts that the operator allowed", async () => {
    const neighbour = await FakeApi.open();
    try {
      for (const api of [vendor, neighbour]) api.on("POST", "/ok", json({}));
      vendor.on("POST", "/go", { status: 307, headers: { location: `${neighbour.url}/ok` } });
      test = await startTestApp({
        ...UNHEARD,
        work: true,
        plugins: [caller([])],
        settings: { plugins: { synth: { enabled: false }, caller: { enabled: true, allowHosts: [neighbour.url] } } },
      });
      for (const url of [`${vendor.url}/ok`, `${neighbour.url}/ok`, `${vendor.url}/go`])
        expect((await generate(test, url)).job.status, url).to.equal("completed");
      expect([vendor.requests.length, neighbour.requests.length]).to.deep.equal([2, 2]);
    } finally {
      await neighbour.close();
    }
  });

  it("without hosts in its definition reaches only https at public addresses", async () => {
    const urls = ["http://127.0.0.1", "https://127.0.0.1", "https://any.example"].map(
      (origin) => `${origin}:${canary.port}/`,
    );
    const plugins = urls.map((_, index) => caller(null, `caller-${index}`));
    test = await startTestApp({ ...UNHEARD, work: true, plugins, addressGuard: rebinding() });
    for (const [index, url] of urls.entries())
      expect(wordsOf(await generate(test, url, `caller-${index}`)), url)
        .to.include("misconfigured: ")
        .and.to.include("plugin caller-");
    expect(canary.connections).to.equal(0);
  });

  it("cannot have a result downloaded from this machine, this network or over plain http", async () => {
    test = await startTestApp({
      ...UNHEARD,
      work: true,
      addressGuard: rebinding(),
      settings: { jobs: { confirmSeconds: 0.2 } },
    });
    const said = [
      [`http://127.0.0.1:${canary.port}`, "plain http"],
      ["http://169.254.169.254", "plain http"],
      [`https://127.0.0.1:${canary.port}`, "may not be connected to"],
      [`https://cdn.example:${canary.port}`, "(127.0.0.1) may not be connected to"],
    ] as const;
    for (const [origin, says] of said) {
      const source = { kind: "url" as const, url: `${origin}/made.mp3?${SIGNATURE}` };
      const mix = { role: "mix" as const, label: "full", contentType: null, durationSeconds: null, source };
      const delivers: SubmitBehaviour = async () => ({
        state: "completed",
        tracks: [{ ...SCRIPTED_TRACK, assets: [mix] }],
      });
      test.provider.behaviour = delivers;
      const report = await endOf(test, async () =>
        dataOf<{ id: string }>(await (await (test as TestApp).account()).api.generate()),
      );
      expect(report.job.status, origin).to.equal("failed");
      expect(wordsOf(report), origin).to.include("failed: ").and.to.include(says);
    }
    expect(canary.connections).to.equal(0);
  });

  it("has files downloaded from the origin in its settings, even when that is private and plain http", async () => {
    vendor.on("GET", "/made.mp3", bytes(SCRIPTED_AUDIO, "audio/mpeg"));
    const definition = caller([]);
    const source = { kind: "url" as const, url: `${vendor.url}/made.mp3` };
    const mix = { role: "mix" as const, label: "full", contentType: null, durationSeconds: null, source };
    test = await startTestApp({
      ...UNHEARD,
      work: true,
      plugins: [
        {
          ...definition,
          create: () => ({
            submit: () => Promise.resolve({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets: [mix] }] }),
          }),
        },
      ],
    });
    expect((await generate(test, "rain")).job.status).to.equal("completed");
    expect(vendor.requests.map(({ path }) => path)).to.deep.equal(["/made.mp3"]);
  });
});
