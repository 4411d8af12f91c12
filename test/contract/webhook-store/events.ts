import { expect } from "chai";
import type { WebhookEvent } from "../../../core/ports/webhook-records.js";
import { anId } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";
import { anEvent } from "../../support/webhook-builders.js";

export function webhookEvents(opened: () => StorageWith<"webhooks">): void {
  const accountId = anId("acct");
  const add = (...events: readonly WebhookEvent[]): Promise<void> =>
    opened().inTransaction((tx) => opened().webhooks.insertEvents(tx, events));

  it("lists an account's events in the order of their numbers, behind a number", async () => {
    const [third, first, second] = [7, 3, 5].map((number) => anEvent({ accountId, number })) as [
      WebhookEvent,
      WebhookEvent,
      WebhookEvent,
    ];
    await add(third, first, second, anEvent({ number: 4 }), anEvent({ accountId, number: null, jobId: null }));
    const { webhooks } = opened();
    expect(await webhooks.listEvents(accountId, 0, 10)).to.deep.equal([first, second, third]);
    expect(await webhooks.listEvents(accountId, 3, 1)).to.deep.equal([second]);
    expect(await webhooks.listEvents(accountId, 4, 10)).to.deep.equal([second, third]);
    expect(await webhooks.listEvents(accountId, 7, 10)).to.deep.equal([]);
    expect(await webhooks.listEvents(anId("acct"), 0, 10)).to.deep.equal([]);
  });
}
