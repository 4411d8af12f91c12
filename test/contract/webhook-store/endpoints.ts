import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import type { AccountId, WebhookEndpointId } from "../../../core/ids.js";
import type { WebhookEndpoint } from "../../../core/ports/webhook-records.js";
import { anId, NOON } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";
import { anEndpoint } from "../../support/webhook-builders.js";

/** Every member differs from that of `anEndpoint`. */
const FULL: Partial<WebhookEndpoint> = {
  url: `https://xn--4gbwdl.example/${"a%20b/".repeat(300)}?q='"\\`,
  status: "disabled",
  secretPrefix: "whsec_zzzzzz",
  sealedSecret: `v1.${"s".repeat(400)}`,
  retiredSecrets: [
    { sealed: "v1.bmV3", signsUntil: NOON + 86_400_000 },
    { sealed: "v1.b2xk", signsUntil: NOON },
  ],
  updatedAt: NOON + 5,
  disabledAt: NOON + 4,
  disabledBy: "failing",
  health: {
    streak: { firstAt: NOON, lastAt: NOON + 1, firstEventId: anId("evt"), severalEvents: true, warnedHours: 72 },
    breaker: { failures: 7, openUntil: NOON + 60_000, openMs: 60_000 },
  },
};

export function webhookEndpoints(opened: () => StorageWith<"addAccount" | "webhooks">): void {
  const add = (...endpoints: readonly WebhookEndpoint[]): Promise<void> =>
    opened().inTransaction(async (tx) => {
      for (const endpoint of endpoints) await opened().webhooks.insertEndpoint(tx, endpoint);
    });
  const save = (endpoint: WebhookEndpoint): Promise<void> =>
    opened().inTransaction((tx) => opened().webhooks.saveEndpoint(tx, endpoint));
  const find = async (id: WebhookEndpointId): Promise<WebhookEndpoint | undefined> =>
    (await opened().webhooks.findEndpoints([id])).get(id);
  const active = (...accountIds: readonly AccountId[]): Promise<Pick<WebhookEndpoint, "id" | "accountId">[]> =>
    opened().inTransaction((tx) => opened().webhooks.activeEndpoints(tx, accountIds));

  it("stores every member", async () => {
    const [bare, full] = [anEndpoint(), anEndpoint(FULL)];
    await add(bare, full);
    const found = await opened().webhooks.findEndpoints([bare.id, anId("whe"), full.id, bare.id]);
    expect([...found.values()]).to.deep.equal([bare, full]);
  });

  it("refuses a second endpoint with the same id", async () => {
    const endpoint = anEndpoint();
    await add(endpoint);
    expect(await add({ ...endpoint, url: "https://other.example/" }).catch((error: unknown) => error)).to.be.instanceOf(
      Error,
    );
    expect(await find(endpoint.id)).to.deep.equal(endpoint);
  });

  it("saves every mutable member, and nothing of another endpoint", async () => {
    const accountId = anId("acct");
    const [endpoint, other] = [anEndpoint({ accountId }), anEndpoint({ accountId })];
    await add(endpoint, other);
    await save({ ...endpoint, ...FULL, accountId: anId("acct"), createdAt: NOON + 99 });
    expect(await find(endpoint.id)).to.deep.equal({ ...endpoint, ...FULL });
    expect(await find(other.id)).to.deep.equal(other);
    await save(endpoint);
    expect(await find(endpoint.id)).to.deep.equal(endpoint);
  });

  it("saves nothing of a deleted endpoint", async () => {
    const endpoint = anEndpoint();
    await save(endpoint);
    expect(await find(endpoint.id)).to.equal(undefined);
  });

  it("refuses an unknown status or reason", async () => {
    for (const wrong of [{ status: "asleep" }, { disabledBy: "unknown" }]) {
      const endpoint = anEndpoint(wrong as unknown as Partial<WebhookEndpoint>);
      expect(await add(endpoint).catch((error: unknown) => error)).to.be.instanceOf(Error);
      expect(await find(endpoint.id)).to.equal(undefined);
    }
  });

  it("deletes one endpoint", async () => {
    const accountId = anId("acct");
    const [endpoint, other] = [anEndpoint({ accountId }), anEndpoint({ accountId })];
    await add(endpoint, other);
    await opened().inTransaction((tx) => opened().webhooks.deleteEndpoint(tx, endpoint.id));
    expect(await opened().webhooks.listEndpoints(accountId)).to.deep.equal([other]);
  });

  it("lists an account's endpoints of every status, newest first, then by id", async () => {
    const accountId = anId("acct");
    const low = anEndpoint({ accountId });
    const newest = anEndpoint({
      accountId,
      createdAt: NOON + 1,
      status: "disabled",
      disabledAt: NOON + 2,
      disabledBy: "user",
    });
    const [high, oldest] = [anEndpoint({ accountId }), anEndpoint({ accountId, createdAt: NOON - 1 })];
    await add(low, newest, high, oldest, anEndpoint());
    expect(await opened().webhooks.listEndpoints(accountId)).to.deep.equal([newest, high, low, oldest]);
    expect(await opened().webhooks.listEndpoints(anId("acct"))).to.deep.equal([]);
  });

  it("lists the endpoints of all accounts page by page", async () => {
    const endpoints = [anEndpoint(), anEndpoint(), anEndpoint()];
    await add(...[...endpoints].reverse());
    const { webhooks } = opened();
    const ids: WebhookEndpointId[] = [];
    let after: WebhookEndpointId | null = null;
    for (let pages = 0; pages < 100; pages++) {
      const page: readonly WebhookEndpoint[] = await webhooks.listAllEndpoints(after, 2);
      expect(page).to.have.length.at.most(2);
      ids.push(...page.map(({ id }) => id));
      after = page.at(-1)?.id ?? null;
      if (after === null) break;
    }
    expect(ids)
      .to.deep.equal([...new Set(ids)].sort())
      .and.to.include.members(endpoints.map(({ id }) => id));
    expect(await webhooks.listAllEndpoints(endpoints[0]?.id ?? null, 2)).to.deep.equal(endpoints.slice(1));
  });

  it("lists the active endpoints of accounts, as the transaction sees them", async () => {
    const [first, second, third] = [anId("acct"), anId("acct"), anId("acct")];
    const [one, two, three] = [
      anEndpoint({ accountId: first }),
      anEndpoint({ accountId: first }),
      anEndpoint({ accountId: second }),
    ];
    const disabled = anEndpoint({ accountId: second, ...FULL });
    await add(one, two, three, disabled, anEndpoint({ accountId: third }));
    expect(await active(first, second, anId("acct"), first)).to.have.deep.members([
      { id: one.id, accountId: first },
      { id: two.id, accountId: first },
      { id: three.id, accountId: second },
    ]);
    const { webhooks } = opened();
    await opened().inTransaction(async (tx) => {
      await webhooks.saveEndpoint(tx, { ...three, ...FULL });
      await webhooks.saveEndpoint(tx, { ...disabled, status: "active", disabledAt: null, disabledBy: null });
      expect(await webhooks.activeEndpoints(tx, [second])).to.deep.equal([{ id: disabled.id, accountId: second }]);
    });
    expect(await active()).to.deep.equal([]);
  });

  it("locks an endpoint, or returns null", async () => {
    const endpoint = anEndpoint(FULL);
    await add(endpoint);
    await opened().inTransaction(async (tx) => {
      expect(await opened().webhooks.lockEndpoint(tx, endpoint.id)).to.deep.equal(endpoint);
      expect(await opened().webhooks.lockEndpoint(tx, anId("whe"))).to.equal(null);
    });
  });

  it("locks all endpoints of an account, newest first", async () => {
    const { id: accountId } = await opened().addAccount();
    const low = anEndpoint({ accountId });
    const [newest, high] = [anEndpoint({ accountId, createdAt: NOON + 1 }), anEndpoint({ accountId, ...FULL })];
    const lock = (): Promise<WebhookEndpoint[]> =>
      opened().inTransaction((tx) => opened().webhooks.lockEndpoints(tx, accountId));
    expect(await lock()).to.deep.equal([]);
    await add(low, newest, high, anEndpoint());
    expect(await lock()).to.deep.equal([newest, high, low]);
  });

  it("loses no change to an endpoint that several transactions lock at once", async () => {
    const endpoint = anEndpoint();
    await add(endpoint);
    const { webhooks } = opened();
    const countFailure = (): Promise<void> =>
      opened().inTransaction(async (tx) => {
        const found = (await webhooks.lockEndpoint(tx, endpoint.id)) as WebhookEndpoint;
        await nextTurn();
        const failures = (found.health.breaker?.failures ?? 0) + 1;
        await webhooks.saveEndpoint(tx, {
          ...found,
          health: { streak: null, breaker: { failures, openUntil: 0, openMs: 0 } },
        });
      });
    await Promise.all(Array.from({ length: 20 }, countFailure));
    expect((await find(endpoint.id))?.health.breaker?.failures).to.equal(20);
  });

  it("blocks adding an endpoint to an account while another transaction counts them", async () => {
    const { id: accountId } = await opened().addAccount();
    const { webhooks } = opened();
    const addUnlessThree = (): Promise<void> =>
      opened().inTransaction(async (tx) => {
        const existing = await webhooks.lockEndpoints(tx, accountId);
        await nextTurn();
        if (existing.length < 3) await webhooks.insertEndpoint(tx, anEndpoint({ accountId }));
      });
    await Promise.all(Array.from({ length: 10 }, addUnlessThree));
    expect(await webhooks.listEndpoints(accountId)).to.have.length(3);
  });

  it("adds endpoints to several accounts at once, while some are changed and deleted", async () => {
    const accounts = await Promise.all([opened().addAccount(), opened().addAccount()]);
    const { webhooks } = opened();
    const doomed = accounts.flatMap(({ id: accountId }) => [anEndpoint({ accountId }), anEndpoint({ accountId })]);
    await add(...doomed);
    const work = [
      ...accounts.flatMap(({ id: accountId }) =>
        Array.from({ length: 5 }, () => async () => {
          await opened().inTransaction(async (tx) => {
            await webhooks.lockEndpoints(tx, accountId);
            await webhooks.insertEndpoint(tx, anEndpoint({ accountId }));
          });
        }),
      ),
      ...doomed.map(({ id }) => async () => {
        await opened().inTransaction(async (tx) => {
          const found = (await webhooks.lockEndpoint(tx, id)) as WebhookEndpoint;
          await webhooks.saveEndpoint(tx, { ...found, status: "disabled", disabledAt: NOON, disabledBy: "gone" });
          await webhooks.deleteEndpoint(tx, id);
        });
      }),
    ];
    await Promise.all(work.map((one) => one()));
    for (const { id } of accounts) expect(await webhooks.listEndpoints(id)).to.have.length(5);
  });
}
