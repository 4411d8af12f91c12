import { expect } from "chai";
import type { Browser } from "playwright-core";
import { alongside } from "../../api/storage-reader.js";
import { type ApiClient, dataOf } from "../../support/api-client.js";
import { openBrowser } from "../../support/browser.js";
import { type ConsoleFixture, openConsoleFixture } from "../../support/console-fixture.js";
import { ConsolePage } from "../../support/console-page.js";
import { submitCompletes } from "../../support/doubles/scripted-provider.js";
import { eventually } from "../../support/process.js";

interface Shown {
  readonly id: string;
  readonly state: string;
}

/** As when the operator comes back to this tab: what is shown is read again. */
const LOOK_AGAIN = 'document.dispatchEvent(new Event("visibilitychange"))';

describe("Maintenance and emergencies at the console", function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: Browser;
  let open: ConsolePage;

  before(async () => {
    [fixture, browser] = await Promise.all([openConsoleFixture(), openBrowser()]);
    open = await ConsolePage.open(browser, fixture.url, fixture.ownerToken);
  });
  after(async () => {
    await open.close();
    await browser.close();
    await fixture.close();
  });

  const read = async <T = Record<string, unknown>>(path: string): Promise<T> =>
    dataOf<T>(await fixture.owner.get(path));
  const keyRoles = async (): Promise<string[]> =>
    (await read<{ keys: readonly { role: string }[] }>("/secrets")).keys.map(({ role }) => role);
  const triesOf = async (endpoint: string): Promise<number[]> =>
    (await fixture.test.app.webhooks.deliveries(endpoint, 10)).map(({ tries }) => tries.length);
  const isRefused =
    ({ api }: { readonly api: ApiClient }) =>
    async (): Promise<boolean> =>
      (await api.get("/api/v1/me")).status === 401;

  it("rotate the secret key, and retire the old one", async () => {
    await open.goto("#/maintenance");
    await open.openDialog("Rotate…");
    expect(await open.submit("Rotate", { Reason: "a leaver knew it" })).to.include("signs and seals from now on");
    await open.page.getByText("Accepted until it is retired").waitFor();
    expect(await keyRoles()).to.deep.equal(["current", "previous"]);
    await open.openDialog("Retire the old key…");
    expect(await open.submit("Retire")).to.include("is the only key in force.");
    // What the old key had sealed is over, the session of this page too.
    await open.page.getByLabel("Admin token").waitFor();
    await open.signIn(fixture.ownerToken);
    await open.button("Rotate…").waitFor();
    expect(await keyRoles()).to.deep.equal(["current"]);
    const { records } = await read<{ records: readonly { action: string; fields: object }[] }>("/audit?limit=2");
    expect(records.map(({ action }) => action)).to.deep.equal(["secrets.retire", "secrets.rotate"]);
    expect(records[1]?.fields).to.include({ why: "a leaver knew it" });
  });

  it("check the ledger, and see what is wrong by its invariant", async () => {
    await open.goto("#/maintenance");
    await open.button("Check now").click();
    await open.page.getByText(/^Nothing is wrong: [1-9]\d* rows checked\.$/).waitFor();
    const { id } = (await fixture.test.account({ credits: 5 })).account;
    const set = (pack: number): Promise<void> =>
      alongside(fixture.test, (_, { write }) => write("fermata_balances").where("account_id", id).update({ pack }));
    await set(9);
    await open.button("Check now").click();
    await open.page.getByRole("row").filter({ hasText: "balance-equals-sum-of-entries" }).getByText(id).waitFor();
    await set(0);
  });

  it("verify the audit log, and make a link to the studio that opens it as an account", async () => {
    await open.goto("#/maintenance");
    await open.button("Verify").click();
    await open.page.getByText(/^Whole: [1-9]\d* records\. The last hash is [0-9a-f]{64}$/).waitFor();
    await open.goto(`#/accounts/${fixture.radio.account.id}`);
    const dialog = await open.openDialog("Studio link…");
    expect(await open.submit("Make it")).to.include("shown this once");
    const link = (await dialog.locator(".secret code").textContent()) ?? "";
    await open.done();
    const studio = await browser.newPage();
    try {
      await studio.goto(link);
      await studio
        .getByText("Nightingale Radio")
        .or(studio.getByRole("button", { name: "Sign out" }))
        .first()
        .waitFor();
    } finally {
      await studio.close();
    }
    const { records } = await read<{ records: readonly { action: string }[] }>("/audit?limit=1");
    expect(records[0]?.action).to.equal("studio.link");
  });

  it("count and delete what was left behind", async () => {
    await open.goto("#/maintenance");
    await open.button("Count").click();
    const facts = open.page.locator(".facts").filter({ hasText: "Looked at" });
    expect(await facts.textContent())
      .to.match(/Looked at[1-9]\d* files? \(\d/)
      .and.include("Left behind0 files");
    await open.openDialog("Delete what was left behind…");
    expect(await open.submit("Delete")).to.equal("0 files (0 MB) deleted.");
    const { records } = await read<{ records: readonly { action: string }[] }>("/audit?limit=1");
    expect(records[0]?.action).to.equal("audio.collect");
  });

  it("send again what an endpoint did not get: those on the page, and those of a time", async () => {
    const { test, receiver } = fixture;
    const { api } = await test.account();
    const headers = { "Content-Type": "application/json" };
    const url = receiver.url("/status/503", { host: "127.0.0.1", server: "http" });
    test.provider.behaviour = submitCompletes;
    const { id } = dataOf<{ id: string }>(
      await api.send("POST", "/api/v1/webhook-endpoints", { headers, body: { url } }),
    );
    const states = async (): Promise<string[]> =>
      (await read<{ deliveries: readonly Shown[] }>(`/webhook-endpoints/${id}/deliveries`)).deliveries.map(
        ({ state }) => state,
      );
    await Promise.all([1, 2, 3].map(() => api.generate(undefined, { Prefer: "wait=20" })));
    // A receiver that fails is tried with one delivery; the others wait for the next time.
    await eventually("it was tried", async () => {
      const tries = await triesOf(id);
      return tries.length === 3 && tries.some((count) => count > 0);
    });
    /** As after three days of failures. */
    const giveUp = (): Promise<void> =>
      alongside(test, (_, { write }) =>
        write("fermata_webhook_deliveries")
          .where("endpoint_id", id)
          .update({ state: "exhausted", due_at: null, ended_at: Date.now() }),
      );
    await giveUp();
    await open.goto(`#/webhooks/${id}`);
    await open.openDialog("Resend these 3…");
    expect(await open.submit("Send")).to.equal("0 of 3 delivered.");
    await open.done();
    const good = receiver.url("/ok", { host: "127.0.0.1", server: "http" });
    await api.send("PATCH", `/api/v1/webhook-endpoints/${id}`, { headers, body: { url: good } });
    await open.openDialog("Resend these 3…");
    expect(await open.submit("Send")).to.equal("3 of 3 delivered.");
    await open.done();
    expect(await states()).to.deep.equal(["delivered", "delivered", "delivered"]);
    await giveUp();
    await open.openDialog("Resend since…");
    expect(await open.submit("Send", { "What was created in": "7" })).to.equal("3 of 3 delivered.");
    await open.done();
    expect(await states()).to.deep.equal(["delivered", "delivered", "delivered"]);
    await giveUp();
    const listReads = async (act: () => Promise<unknown>): Promise<number> => {
      const list = `/${id}/deliveries`;
      const count = (): number => open.visit.requests.filter((one) => one.url().includes(list)).length;
      const before = count();
      await act();
      // Requests are reported in the order in which the page sends them: those before this one are known.
      await open.page.evaluate("fetch('').then((response) => response.text())");
      return count() - before;
    };
    await open.goto(`#/webhooks/${id}?state=exhausted`);
    await open.openDialog("Resend…");
    // The delivery leaves this list, which is read again when the outcome was read.
    let said = "";
    expect(await listReads(async () => (said = await open.submit("Send")))).to.equal(0);
    expect(said).to.include("Delivered: status 200");
    expect(await listReads(() => open.page.evaluate(LOOK_AGAIN))).to.equal(0);
    expect(await listReads(() => open.done())).to.equal(1);
    await open.button("Resend these 2…").waitFor();
  });

  it("revoke all keys of an account, and all of all accounts by typing so", async () => {
    const one = await fixture.test.account();
    await fixture.test.app.accounts.issueKey(one.account.id);
    const other = await fixture.test.account();
    await open.goto(`#/accounts/${one.account.id}/keys`);
    const dialog = await open.openDialog("Revoke all…");
    expect(await dialog.textContent()).to.include("cannot call the API until you issue another");
    expect(await open.submit("Revoke 2 keys")).to.equal("2 keys revoked.");
    await eventually("revoked", isRefused(one));
    expect((await other.api.get("/api/v1/me")).status).to.equal(200);
    await open.goto("#/maintenance");
    await open.openDialog("Revoke all API keys…");
    const typed = "Type “revoke all” to confirm";
    expect(await open.submit("Revoke all", { [typed]: "yes" })).to.include("revoke all");
    expect((await other.api.get("/api/v1/me")).status).to.equal(200);
    expect(await open.submit("Revoke all", { [typed]: "revoke all", Reason: "a leak" })).to.match(
      /^\d+ keys revoked\.$/,
    );
    await eventually("revoked", isRefused(other));
  });
});
