import { connect, createServer, type AddressInfo, type Server, Socket } from "node:net";
import { expect } from "chai";
import { Agent, request } from "undici";
import {
  AddressPolicy,
  type Connected,
  type ConnectTarget,
  DnsAddressGuard,
  GuardedConnector,
  type ResolveName,
} from "../../adapters/network/index.js";
import { StubGuard } from "../support/doubles/stub-guard.js";
import { FaultReceiver } from "../support/fault-receiver/receiver.js";

const LOOPBACK = { allowNetworks: ["127.0.0.0/8", "::1"] };

describe("GuardedConnector", () => {
  let receiver: FaultReceiver;
  let opened: string[];

  before(async () => {
    receiver = await FaultReceiver.open();
  });

  after(() => receiver.close());

  beforeEach(() => {
    opened = [];
  });

  const target = (fields: Partial<ConnectTarget> = {}): ConnectTarget => ({
    hostname: "localhost",
    port: receiver.portOf("https"),
    secure: true,
    timeoutMs: 5_000,
    ...fields,
  });

  /** Counts what is opened, and opens it somewhere else when configured so. */
  const opener =
    (instead: (address: string) => Socket | null = () => null) =>
    (address: string, port: number): Socket => {
      opened.push(address);
      return instead(address) ?? connect(port, address);
    };

  const guardOf = (resolve: ResolveName, exceptions = LOOPBACK): DnsAddressGuard =>
    new DnsAddressGuard(new AddressPolicy(exceptions), resolve);

  /** Connects and ends the connection. */
  async function outcomeOf(connector: GuardedConnector, fields: Partial<ConnectTarget> = {}): Promise<Connected> {
    const connected = await connector.connect(target(fields));
    connected.socket?.destroy();
    return connected;
  }

  it("gives a verified connection, with the time of each phase", async () => {
    const { socket, phases } = await outcomeOf(
      new GuardedConnector({ guard: guardOf(async () => []), ca: [receiver.ca] }),
    );
    expect(socket).to.be.an("object");
    const times = [phases.dnsMs, phases.connectMs, phases.tlsMs] as number[];
    expect(times).to.deep.equal([...times].sort((a, b) => a - b));
  });

  it("asks for the certificate of the name, not of the address", async () => {
    const guard = new StubGuard().response("receiver.example", { state: "allowed", addresses: ["127.0.0.1"] });
    const refused = await outcomeOf(new GuardedConnector({ guard, ca: [receiver.ca] }), {
      hostname: "receiver.example",
    });
    expect(refused).to.include({ socket: null, failure: "tls" });
    const named = await FaultReceiver.open({ names: ["receiver.example"] });
    try {
      const port = named.portOf("https");
      expect(await outcomeOf(new GuardedConnector({ guard, ca: [named.ca] }), { hostname: "receiver.example", port }))
        .to.have.property("socket")
        .that.is.an("object");
      expect(await outcomeOf(new GuardedConnector({ guard }), { hostname: "receiver.example", port })).to.include({
        socket: null,
        failure: "tls",
      });
    } finally {
      await named.close();
    }
  });

  it("opens nothing for a blocked literal, whatever its spelling, nor for a refused name", async () => {
    const connector = new GuardedConnector({
      guard: guardOf(async () => ["127.0.0.1"], { allowNetworks: [] }),
      open: opener(),
    });
    const hosts = ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "10.0.0.1", "169.254.169.254", "localhost", "router"];
    for (const hostname of hosts)
      expect(await outcomeOf(connector, { hostname }), hostname).to.include({
        socket: null,
        failure: "blocked_address",
      });
    expect(opened).to.deep.equal([]);
  });

  it("opens nothing when a name is public at the check and private at the connection", async () => {
    const turns = [["93.184.216.34"], ["127.0.0.1"]];
    const guard = guardOf(async () => turns.shift() ?? [], { allowNetworks: [] });
    expect(await guard.resolve("rebind.example", 1_000)).to.have.property("state", "allowed");
    const outcome = await outcomeOf(new GuardedConnector({ guard, open: opener() }), { hostname: "rebind.example" });
    expect(outcome).to.include({
      socket: null,
      failure: "blocked_address",
      message: "rebind.example (127.0.0.1) may not be connected to",
    });
    expect(opened).to.deep.equal([]);
  });

  it("opens nothing when one of several answers is blocked", async () => {
    const connector = new GuardedConnector({ guard: guardOf(async () => ["127.0.0.1", "10.0.0.1"]), open: opener() });
    expect(await outcomeOf(connector, { hostname: "mixed.example" })).to.include({ failure: "blocked_address" });
    expect(opened).to.deep.equal([]);
  });

  it("says that a name has no address", async () => {
    const guard = guardOf(() => Promise.reject(new Error("the name does not exist")));
    const outcome = await outcomeOf(new GuardedConnector({ guard, open: opener() }), { hostname: "gone.example" });
    expect(outcome).to.deep.include({
      failure: "dns",
      message: "gone.example: the name does not exist",
      phases: { dnsMs: null, connectMs: null, tlsMs: null },
    });
  });

  it("writes no byte to a connection that went somewhere else than it was sent", async () => {
    const bytes: Buffer[] = [];
    let closed: (() => void) | undefined;
    const ended = new Promise<void>((resolve) => (closed = resolve));
    const elsewhere: Server = createServer((socket) => {
      socket.on("data", (chunk) => bytes.push(chunk));
      socket.on("error", () => undefined);
      socket.on("close", () => closed?.());
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = elsewhere.address() as AddressInfo;
      const guard = guardOf(async () => ["93.184.216.34"]);
      for (const secure of [true, false]) {
        const outcome = await outcomeOf(
          new GuardedConnector({ guard, open: opener(() => connect(port, "127.0.0.1")) }),
          { hostname: "public.example", secure },
        );
        expect(outcome).to.include({
          socket: null,
          failure: "blocked_address",
          message: "the connection to 93.184.216.34 went to 127.0.0.1 instead",
        });
      }
      await ended;
      expect(Buffer.concat(bytes).length).to.equal(0);
    } finally {
      await new Promise((resolve) => elsewhere.close(resolve));
    }
  });

  it("tries the addresses in turn, and says of each why it failed when all did", async () => {
    const some = new GuardedConnector({
      guard: guardOf(async () => ["127.0.0.2", "127.0.0.3", "127.0.0.1"]),
      ca: [receiver.ca],
      open: opener(),
    });
    const outcome = await outcomeOf(some, { hostname: "receiver.example", secure: false });
    expect(outcome).to.have.property("socket").that.is.an("object");
    expect(opened).to.deep.equal(["127.0.0.2", "127.0.0.3", "127.0.0.1"]);
    const none = new GuardedConnector({ guard: guardOf(async () => ["127.0.0.2", "127.0.0.3"]), open: opener() });
    const port = receiver.portOf("https");
    expect(await outcomeOf(none, { hostname: "receiver.example" })).to.include({
      failure: "connect",
      message: `127.0.0.2 port ${port} refused the connection; 127.0.0.3 port ${port} refused the connection`,
    });
  });

  it("tries the next address when one ends the connection at once, and says so when all did", async () => {
    const open = opener(() => {
      const socket = connect(receiver.portOf("https"), "127.0.0.1");
      return opened.length > 1 ? socket : socket.prependOnceListener("connect", () => socket.destroy());
    });
    const connectorTo = (...addresses: string[]): GuardedConnector =>
      new GuardedConnector({ guard: guardOf(() => Promise.resolve(addresses)), open });
    const message = "127.0.0.1 ended the connection at once";
    const named = { hostname: "receiver.example", secure: false };
    expect(await outcomeOf(connectorTo("127.0.0.1"), named)).to.include({ socket: null, failure: "connect", message });
    opened = [];
    const outcome = await outcomeOf(connectorTo("127.0.0.1", "127.0.0.1"), named);
    expect(outcome).to.have.property("socket").that.is.an("object");
  });

  it("leaves time for the next address when one stays silent, and tries no more than four", async () => {
    const silent = opener((address) => (address === "127.0.0.1" ? null : new Socket()));
    const guard = guardOf(async () => ["127.0.0.2", "127.0.0.1"]);
    expect(
      await outcomeOf(new GuardedConnector({ guard, open: silent }), {
        hostname: "receiver.example",
        secure: false,
        timeoutMs: 400,
      }),
    )
      .to.have.property("socket")
      .that.is.an("object");
    opened = [];
    const many = guardOf(async () => ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"]);
    const outcome = await outcomeOf(new GuardedConnector({ guard: many, open: silent }), {
      hostname: "receiver.example",
      timeoutMs: 200,
    });
    expect(outcome)
      .to.include({ failure: "connect" })
      .and.have.property("message")
      .that.matches(/^127\.0\.0\.2 port \d+ did not answer within \d{1,2} ms; 127\.0\.0\.3 /);
    expect(opened).to.deep.equal(["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]);
  });

  it("is aborted in every phase", async () => {
    const stop = (): AbortSignal => AbortSignal.timeout(50);
    const silentNames = new GuardedConnector({ guard: guardOf(() => new Promise(() => undefined)) });
    expect(await outcomeOf(silentNames, { hostname: "receiver.example", signal: stop() })).to.include({
      failure: "dns",
      message: "it was aborted",
    });
    const silentSockets = new GuardedConnector({ guard: guardOf(async () => []), open: () => new Socket() });
    expect(await outcomeOf(silentSockets, { signal: stop() })).to.include({
      failure: "connect",
      message: "it was aborted",
    });
    const silentTls = new GuardedConnector({ guard: guardOf(async () => []) });
    expect(await outcomeOf(silentTls, { port: receiver.portOf("mute"), signal: stop() })).to.include({
      failure: "tls",
      message: "it was aborted",
    });
    expect(await outcomeOf(silentTls, { signal: AbortSignal.abort() })).to.have.property("socket", null);
    await receiver.quiet();
  });

  it("does not reject when a socket cannot even be made", async () => {
    const connector = new GuardedConnector({
      guard: guardOf(async () => []),
      open: () => {
        throw new Error("scripted");
      },
    });
    expect(await outcomeOf(connector)).to.include({ socket: null, failure: "connect", message: "Error: scripted" });
  });

  it("refuses an authority that is none when it is made", () => {
    expect(() => new GuardedConnector({ guard: new StubGuard(), ca: ["not a certificate"] })).to.throw(/PEM/);
  });

  it("serves undici's clients, which get its reason as an error", async () => {
    const connector = new GuardedConnector({ guard: guardOf(async () => []), ca: [receiver.ca] });
    const agent = new Agent({ connect: connector.forUndici(5_000) });
    const errorOf = (url: string): Promise<Error | null> =>
      request(url, { dispatcher: agent }).then(
        () => null,
        (error: Error) => error,
      );
    try {
      const { statusCode, body } = await request(receiver.url("/ok"), { dispatcher: agent });
      expect([statusCode, await body.json()]).to.deep.equal([200, { received: true }]);
      expect(await errorOf("https://10.0.0.1/")).to.include({
        name: "ConnectionFailedError",
        failure: "blocked_address",
        message: "10.0.0.1 may not be connected to",
      });
      expect(await errorOf("http://[::ffff:10.0.0.1]/")).to.include({ failure: "blocked_address" });
      expect(await errorOf(receiver.url("/ok", { host: "expired.localhost" }))).to.include({ failure: "tls" });
    } finally {
      await agent.destroy();
    }
  });
});
