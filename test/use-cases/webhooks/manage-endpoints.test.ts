import { expect } from "chai";
import {
  InvalidRequestError,
  WebhookEndpointNotFoundError,
  WebhookHostBlockedError,
  WebhookUrlInvalidError,
} from "../../../core/errors.js";
import type { AccountId } from "../../../core/ids.js";
import type { ManageEndpoints } from "../../../core/webhooks/manage-endpoints.js";
import { anId } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { StubGuard } from "../../support/doubles/stub-guard.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";
import { aDelivery, anEndpoint, anEvent } from "../../support/webhook-builders.js";

const URL_A = "https://a.example/hook";
const URL_B = "https://b.example/hook";

describe("Webhook endpoints of an account", () => {
  let memory: MemoryCore;
  let endpoints: ManageEndpoints;
  let guard: StubGuard;
  let accountId: AccountId;
  beforeEach(async () => {
    guard = new StubGuard();
    memory = await memoryCore({
      ports: (storage) => ({
        addressGuard: guard,
        // As if each commit's reply were lost once.
        unitOfWork: new FaultyPort(storage.unitOfWork).on("inTransaction", async (run, work) => {
          if (isTwice) await run(work);
          return run((tx) => work(tx, { isRetry: isTwice }));
        }),
      }),
    });
    isTwice = false;
    endpoints = memory.core.webhooks.endpoints;
    accountId = (await memory.storage.addAccount()).id;
    const keyId = memory.ports.keyring.current("webhook-secrets").id;
    const state = { current: keyId, previous: null, unnamed: null, rotatedAt: null };
    await memory.storage.installation.keep("secret_keys", JSON.stringify(state));
  });
  let isTwice = false;

  const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
  const issuesOf = async (work: Promise<unknown>): Promise<unknown> =>
    ((await failure(work)) as InvalidRequestError).details;

  it("are created with a secret that is shown once", async () => {
    const { endpoint, secret } = await endpoints.create(accountId, URL_A);
    expect(endpoint).to.deep.include({
      accountId,
      url: URL_A,
      status: "active",
      createdAt: memory.clock.now(),
      updatedAt: memory.clock.now(),
      disabledAt: null,
      disabledBy: null,
      health: { streak: null, breaker: null },
    });
    expect(endpoint).not.to.have.any.keys("sealedSecret", "retiredSecrets");
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint.secretPrefix).to.equal(secret.slice(0, 12));
    const stored = (await memory.storage.webhooks.findEndpoints([endpoint.id])).get(endpoint.id);
    expect(await memory.ports.secretBox.open(stored?.sealedSecret ?? "", endpoint.id)).to.equal(secret);
    expect(await endpoints.list(accountId)).to.deep.equal([endpoint]);
  });

  it("are created once, also when the reply to the commit is lost", async () => {
    isTwice = true;
    await endpoints.create(accountId, URL_A);
    expect(await endpoints.list(accountId)).to.have.length(1);
  });

  it("have no two that receive the same requests, also where one is disabled", async () => {
    const { endpoint } = await endpoints.create(accountId, URL_A);
    await endpoints.update(accountId, endpoint.id, { status: "disabled" });
    const refused = await failure(endpoints.create(accountId, "https://A.example:443/hook"));
    expect(refused).to.be.instanceOf(WebhookUrlInvalidError);
    expect(String(refused)).to.include(endpoint.id);
    const { id: other } = await memory.storage.addAccount();
    await endpoints.create(other, URL_A);
    const { endpoint: second } = await endpoints.create(accountId, URL_B);
    expect(await failure(endpoints.update(accountId, second.id, { url: URL_A })))
      .to.be //
      .instanceOf(WebhookUrlInvalidError);
    expect(await endpoints.update(accountId, second.id, { url: URL_B })).to.include({ url: URL_B });
  });

  it("are 20 at most", async () => {
    for (let count = 0; count < 20; count++) await endpoints.create(accountId, `https://h${count}.example/`);
    expect(await issuesOf(endpoints.create(accountId, URL_A))).to.deep.equal({
      issues: [{ path: "body.url", message: "would be one more than the 20 endpoints an account may have" }],
    });
  });

  it("do not lead to what must not be reached, nor anywhere but by https", async () => {
    guard.resolve = async () => ({ state: "blocked", addresses: ["10.0.0.1"] }) as never;
    expect(await failure(endpoints.create(accountId, URL_A))).to.be.instanceOf(WebhookHostBlockedError);
    expect(await failure(endpoints.create(accountId, "http://a.example/"))).to.be.instanceOf(Error);
    expect(await endpoints.list(accountId)).to.deep.equal([]);
  });

  it("may have a name that does not resolve now, which the log says", async () => {
    guard.resolve = async () => ({ state: "unresolved", reason: "SERVFAIL" }) as never;
    await endpoints.create(accountId, URL_A);
    expect(memory.logger.lines[0]).to.include({
      level: "warn",
      message: "The host of a webhook URL does not resolve; it was accepted",
    });
    expect(memory.logger.lines[0]?.fields).to.deep.equal({ host: "a.example", reason: "SERVFAIL" });
  });

  it("are listed by their status, the newest first", async () => {
    const { endpoint: first } = await endpoints.create(accountId, URL_A);
    await memory.clock.advance(1);
    const { endpoint: second } = await endpoints.create(accountId, URL_B);
    await endpoints.update(accountId, first.id, { status: "disabled" });
    const ids = async (status?: "active" | "disabled" | "all") =>
      (await endpoints.list(accountId, status)).map(({ id }) => id);
    expect(await ids()).to.deep.equal([second.id]);
    expect(await ids("disabled")).to.deep.equal([first.id]);
    expect(await ids("all")).to.deep.equal([second.id, first.id]);
  });

  it("are listed by pages, whose cursors are of their status", async () => {
    const created: string[] = [];
    for (const name of ["a", "b", "c"]) {
      created.unshift((await endpoints.create(accountId, `https://${name}.example/`)).endpoint.id);
      await memory.clock.advance(1);
    }
    const first = await endpoints.page(accountId, "all", { limit: 2 });
    expect(first.items.map(({ id }) => id)).to.deep.equal(created.slice(0, 2));
    const cursor = first.next ?? undefined;
    const rest = await endpoints.page(accountId, "all", { limit: 2, cursor });
    expect([rest.items.map(({ id }) => id), rest.next]).to.deep.equal([created.slice(2), null]);
    expect(await failure(endpoints.page(accountId, "active", { cursor }))).to.be.instanceOf(InvalidRequestError);
    expect((await endpoints.page(accountId)).items).to.have.length(3);
  });

  it("get a new URL with a clean record, and keep the one that they have", async () => {
    const health = { streak: { since: 5, warnedHours: 24 }, breaker: null } as never;
    const endpoint = anEndpoint({ accountId, url: URL_A, health });
    await memory.storage.inTransaction((tx) => memory.storage.webhooks.insertEndpoint(tx, endpoint));
    await memory.clock.advance(9);
    const same = await endpoints.update(accountId, endpoint.id, { url: URL_A });
    expect(same).to.deep.include({ health, updatedAt: endpoint.updatedAt });
    const changed = await endpoints.update(accountId, endpoint.id, { url: URL_B });
    expect(changed).to.deep.include({
      url: URL_B,
      health: { streak: null, breaker: null },
      updatedAt: memory.clock.now(),
    });
  });

  it("drop what waits when they are disabled, and begin clean when they are active again", async () => {
    const { endpoint } = await endpoints.create(accountId, URL_A);
    const event = anEvent({ accountId });
    const delivery = aDelivery({ eventId: event.id, endpointId: endpoint.id });
    await memory.storage.inTransaction(async (tx) => {
      await memory.storage.webhooks.insertEvents(tx, [event]);
      await memory.storage.webhooks.insertDeliveries(tx, [delivery]);
    });
    await memory.clock.advance(7);
    const off = await endpoints.update(accountId, endpoint.id, { status: "disabled" });
    expect(off).to.include({ status: "disabled", disabledAt: memory.clock.now(), disabledBy: "user" });
    expect(await memory.storage.webhooks.findDelivery(delivery.id)).to.include({ state: "dropped" });
    await memory.clock.advance(7);
    expect(await endpoints.update(accountId, endpoint.id, { status: "disabled" })).to.deep.equal(off);
    const on = await endpoints.update(accountId, endpoint.id, { status: "active" });
    expect(on).to.include({ status: "active", disabledAt: null, disabledBy: null });
    expect(await endpoints.update(accountId, endpoint.id, { status: "active" })).to.deep.equal(on);
    expect(await endpoints.update(accountId, endpoint.id, {})).to.deep.equal(on);
  });

  it("are removed with what waits for them", async () => {
    const { endpoint } = await endpoints.create(accountId, URL_A);
    isTwice = true;
    expect(await endpoints.remove(accountId, endpoint.id)).to.equal(endpoint.id);
    expect(await endpoints.list(accountId, "all")).to.deep.equal([]);
  });

  it("are not found by another account, with whatever URL", async () => {
    const { endpoint } = await endpoints.create(accountId, URL_A);
    const { id: other } = await memory.storage.addAccount();
    for (const [owner, id] of [
      [other, endpoint.id],
      [accountId, anId("whe")],
      [accountId, "nonsense"],
    ] as const) {
      expect(await failure(endpoints.update(owner, id, { url: "nonsense" })))
        .to.be //
        .instanceOf(WebhookEndpointNotFoundError);
      expect(await failure(endpoints.remove(owner, id))).to.be.instanceOf(WebhookEndpointNotFoundError);
    }
  });
});

describe("Endpoints that lead to what must not be reached", () => {
  it("are named with their addresses, of all accounts, and no disabled one", async () => {
    const guard = new StubGuard();
    const { core, storage } = await memoryCore({ ports: () => ({ addressGuard: guard }) });
    const all = Array.from({ length: 201 }, (_, index) => anEndpoint({ url: `https://h${index}.example/` }));
    const off = anEndpoint({ url: "https://h7.example/", status: "disabled" });
    await storage.inTransaction(async (tx) => {
      for (const endpoint of [...all, off]) await storage.webhooks.insertEndpoint(tx, endpoint);
    });
    guard.resolve = async (host: string) =>
      (["h7.example", "h200.example"].includes(host)
        ? { state: "blocked", addresses: ["10.0.0.1"] }
        : { state: "allowed", addresses: [] }) as never;
    const found = await core.webhooks.blockedEndpoints();
    expect(found.map(({ endpoint: { id }, addresses }) => [id, addresses])).to.deep.equal([
      [all[7]?.id, ["10.0.0.1"]],
      [all[200]?.id, ["10.0.0.1"]],
    ]);
    expect(found[0]?.endpoint).not.to.have.property("sealedSecret");
  });
});
