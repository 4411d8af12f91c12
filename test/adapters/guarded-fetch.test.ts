import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { expect } from "chai";
import { AddressPolicy, DnsAddressGuard, OperatorAddressGuard } from "../../adapters/network/index.js";
import { ProviderFetch } from "../../config/provider-fetch.js";
import { ProviderApi, ProviderFailure } from "../../plugins/sdk/index.js";
import { OutgoingRule } from "../../core/providers/outgoing-rule.js";
import { RecordingTracer } from "../support/doubles/recording-tracer.js";
import { selfSigned } from "../support/fault-receiver/certificates.js";
import { responding, FileHost } from "../support/file-host.js";

const CALL = { path: "/music", json: { prompt: "rain" }, creates: true, signal: new AbortController().signal } as const;

async function failureOf(work: Promise<unknown>): Promise<ProviderFailure> {
  const error: unknown = await work.then(
    () => new Error("it was taken for a good answer"),
    (thrown: unknown) => thrown,
  );
  if (!ProviderFailure.is(error)) throw error;
  return error;
}

describe("The fetch of plugins", () => {
  let providerFetch: ProviderFetch;
  beforeEach(() => {
    providerFetch = new ProviderFetch(new DnsAddressGuard(new AddressPolicy()));
  });
  afterEach(() => providerFetch.close());

  function apiOf(baseUrl: string): ProviderApi {
    const rule = new OutgoingRule({ providerId: "owl", settings: { baseUrl }, hosts: [], allowHosts: [] });
    return new ProviderApi({ fetch: providerFetch.fetchFor(rule), baseUrl, timeoutMs: 10_000 });
  }

  const notified = ({ kind, billable, message }: ProviderFailure): readonly string[] => [kind, billable, message];

  async function withServer(
    onConnection: (socket: Socket) => void,
    work: (port: number) => Promise<void>,
  ): Promise<void> {
    const server: Server = createServer(onConnection).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      await work((server.address() as AddressInfo).port);
    } finally {
      server.close();
    }
  }

  async function closedPort(): Promise<number> {
    let closed = 0;
    await withServer(
      () => undefined,
      async (port) => void (closed = port),
    );
    return closed;
  }

  it("knows of every connection that did not come about that nothing was bought", async () => {
    const unsent = ["unavailable", "no"];
    const closed = await closedPort();
    expect(notified(await failureOf(apiOf(`http://127.0.0.1:${closed}`).call(CALL)))).to.deep.equal([
      ...unsent,
      `127.0.0.1 port ${closed} refused the connection.`,
    ]);
    expect(notified(await failureOf(apiOf("http://unknown.invalid").call(CALL)))).to.deep.equal([
      ...unsent,
      "The connection failed (ENOTFOUND).",
    ]);
    const secure = await FileHost.open(selfSigned({ names: ["localhost"] }));
    try {
      secure.on("/music", responding(200, {}, "{}"));
      const failure = await failureOf(apiOf(secure.url("")).call(CALL));
      expect(notified(failure)).to.deep.equal([...unsent, "The connection failed (DEPTH_ZERO_SELF_SIGNED_CERT)."]);
      expect(secure.requests).to.deep.equal([]);
    } finally {
      await secure.close();
    }
    // Node's own fetch says ECONNRESET here, as of a request that was cut off.
    await withServer(
      (socket) => socket.destroy(),
      async (port) =>
        void expect(notified(await failureOf(apiOf(`https://127.0.0.1:${port}`).call(CALL))).slice(0, 2)).to.deep.equal(
          unsent,
        ),
    );
  });

  it("does not know what became of a request that was sent and cut off", async () => {
    await withServer(
      (socket) => socket.on("data", () => socket.destroy()).on("error", () => undefined),
      async (port) =>
        void expect((await failureOf(apiOf(`http://127.0.0.1:${port}`).call(CALL))).kind).to.equal("outcome_unknown"),
    );
  });

  it("sends nothing where the rule refuses, and says so as misconfigured", async () => {
    const host = await FileHost.open();
    try {
      const other = providerFetch.fetchFor(
        new OutgoingRule({ providerId: "owl", settings: {}, hosts: [], allowHosts: [] }),
      );
      const failure = await failureOf(other(host.url("/x?signature=s")));
      expect(notified(failure)).to.deep.equal([
        "misconfigured",
        "no",
        `The plugin owl may not call ${host.url("")}: only https, unless plugins.owl.allowHosts names the origin.`,
      ]);
      expect(host.requests).to.deep.equal([]);
    } finally {
      await host.close();
    }
  });

  it("names the setting that allows an address which is not public", async () => {
    const rule = { providerId: "owl", settings: {}, hosts: ["localhost"], allowHosts: [] };
    const failure = await failureOf(providerFetch.fetchFor(new OutgoingRule(rule))("https://localhost/music"));
    const [kind, billable, message = ""] = notified(failure);
    expect([kind, billable, failure.providerCode]).to.deep.equal(["misconfigured", "no", "blocked_address"]);
    expect(message).to.match(/^A call of the plugin owl was refused: .*localhost.*; its origin in .*allows it\.$/);
    expect(message).to.include("its origin in plugins.owl.allowHosts allows it.");
  });

  it("carries the running span as traceparent where the operator wants that, in place of any other", async () => {
    const tracer = new RecordingTracer();
    const tracing = new ProviderFetch(new DnsAddressGuard(new AddressPolicy()), tracer);
    const host = await FileHost.open();
    try {
      const baseUrl = new URL(host.url("/")).origin;
      const rule = new OutgoingRule({ providerId: "owl", settings: { baseUrl }, hosts: [], allowHosts: [] });
      const [traced, plain] = [tracing.fetchFor(rule), providerFetch.fetchFor(rule)];
      const span = tracer.start({ name: "submit owl" });
      const headers = { authorization: "Bearer of the provider", traceparent: "of the plugin" };
      const arrived = async (call: () => Promise<Response>): Promise<Readonly<Record<string, unknown>>> => {
        let seen: Readonly<Record<string, unknown>> = {};
        host.on("/music", (request, response) => {
          seen = request.headers;
          response.end();
        });
        await (await call()).text();
        return seen;
      };
      const url = `${baseUrl}/music`;
      expect(await arrived(() => tracer.within(span, () => traced(url, { headers })))).to.include({
        ...headers,
        traceparent: span.context.traceparent,
      });
      const request = new Request(url, { headers: { authorization: "Bearer of the request" } });
      expect(await arrived(() => tracer.within(span, () => traced(request)))).to.include({
        authorization: "Bearer of the request",
        traceparent: span.context.traceparent,
      });
      expect(await arrived(() => traced(url))).to.not.have.property("traceparent");
      expect(await arrived(() => tracer.within(span, () => plain(url)))).to.not.have.property("traceparent");
    } finally {
      await host.close();
      await tracing.close();
    }
  });
});

describe("OperatorAddressGuard", () => {
  const guard = (addresses: readonly string[]): OperatorAddressGuard =>
    new OperatorAddressGuard(() => Promise.resolve(addresses));

  it("lets what the operator wrote be anywhere, by address or by name", async () => {
    expect(guard([]).admitsHost()).to.equal(true);
    for (const host of ["10.0.0.5", "[::1]", "169.254.169.254"])
      expect(await guard([]).resolve(host, 1_000)).to.include({ state: "allowed" });
    expect(await guard(["10.0.0.5", "::1"]).resolve("gpu-box", 1_000)).to.deep.equal({
      state: "allowed",
      addresses: ["10.0.0.5", "::1"],
    });
  });

  it("lets no name lead to where clouds tell a machine its secrets", async () => {
    for (const address of ["169.254.169.254", "::ffff:169.254.169.254", "100.100.100.200", "fd00:ec2::254"])
      expect(await guard(["10.0.0.5", address]).resolve("gpu-box", 1_000), address).to.include({ state: "blocked" });
  });

  it("says why a name has no address, also without a response", async () => {
    const silent = new OperatorAddressGuard(() => new Promise<never>(() => undefined));
    expect(await silent.resolve("gpu-box", 1)).to.deep.equal({
      state: "unresolved",
      reason: "the name was not resolved within 1 ms",
    });
    expect(await guard([]).resolve("gpu-box", 1_000)).to.deep.equal({
      state: "unresolved",
      reason: "the name has no address",
    });
    const missing = Object.assign(new Error("getaddrinfo ENOTFOUND gpu-box"), { code: "ENOTFOUND" });
    expect(await new OperatorAddressGuard(() => Promise.reject(missing)).resolve("gpu-box", 1_000)).to.deep.equal({
      state: "unresolved",
      reason: "the name cannot be resolved (ENOTFOUND)",
    });
  });
});
