import { connect } from "node:net";
import { expect } from "chai";
import { GuardedConnector, GuardedFetch, OperatorAddressGuard } from "../../adapters/network/index.js";
import { FileHost, responding } from "../support/file-host.js";

const DUE_MS = 20;

/** The process stands still: no event, no timer, as under SIGSTOP. */
function standStill(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * DUE_MS);
}

describe("The fetch of plugins in a process that stood still", () => {
  let host: FileHost;
  beforeEach(async () => {
    host = await FileHost.open();
    for (const path of ["/before", "/music", "/after"]) host.on(path, responding(200, {}, "{}"));
  });
  afterEach(() => host.close());

  function guardedFetch(whenConnected: () => void = () => undefined): GuardedFetch {
    const open = (address: string, port: number): ReturnType<typeof connect> =>
      connect({ host: address, port }).once("connect", whenConnected);
    const connector = new GuardedConnector({ guard: new OperatorAddressGuard(), open });
    return new GuardedFetch({ refusal: () => null, connectorFor: () => connector, refused: (_words, cause) => cause });
  }

  /** A call whose time is over soon. */
  function submit(guarded: GuardedFetch): Promise<Response> {
    return guarded.fetch(host.url("/music"), { method: "POST", body: "{}", signal: AbortSignal.timeout(DUE_MS) });
  }

  async function expectUnsent(call: Promise<Response>, guarded: GuardedFetch): Promise<unknown> {
    const error: unknown = await call.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    await (await guarded.fetch(host.url("/after"))).text();
    expect(host.requests.map(({ url }) => url)).to.not.include("/music");
    await guarded.close();
    return error;
  }

  it("sends nothing over an open connection once the call is over, and says so", async () => {
    const guarded = guardedFetch();
    await (await guarded.fetch(host.url("/before"))).text();
    const call = submit(guarded);
    standStill();
    expect(await expectUnsent(call, guarded)).to.include({ name: "CallOverError", notSent: true });
  });

  it("sends nothing over a connection that was opened meanwhile", async () => {
    let stands = true;
    const guarded = guardedFetch(() => {
      if (stands) standStill();
      stands = false;
    });
    expect(await expectUnsent(submit(guarded), guarded)).to.be.instanceOf(Error);
  });

  it("sends what is still wanted", async () => {
    const guarded = guardedFetch(standStill);
    const response = await guarded.fetch(host.url("/music"), { method: "POST", body: "{}" });
    expect(await response.text()).to.equal("{}");
    await guarded.close();
  });
});
