import { expect } from "chai";
import type { FermataError } from "../../core/index.js";
import type { AccountId } from "../../core/ids.js";
import { anId } from "../support/builders.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const NO_ACCOUNTS = { "an account that does not exist": anId("acct"), "what is no id": "17", nothing: "" } as const;

describe("Credits of an embedding app", () => {
  let test: TestApp;
  let credits: TestApp["app"]["credits"];
  let id: AccountId;
  before(async () => {
    test = await startTestApp({ listen: false });
    ({ credits } = test.app);
  });
  beforeEach(async () => {
    ({ id } = (await test.account({ credits: 10 })).account);
  });
  after(() => test.close());

  const refusalOf = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => "none",
      (error: unknown) => `${(error as FermataError).code}: ${(error as Error).message}`,
    );

  for (const [what, given] of Object.entries(NO_ACCOUNTS))
    it(`have no balance and no entries of ${what}, and it gets none`, async () => {
      const calls: readonly (() => Promise<unknown>)[] = [
        () => credits.balance(given),
        () => credits.entries(given, 10),
        () => credits.grant(given, 5),
        () => credits.renew(given),
      ];
      for (const call of calls)
        expect(await refusalOf(call())).to.equal(`invalid_request: There is no account ${given}.`);
    });

  it("are neither granted nor renewed once the account is deleted", async () => {
    await test.app.accounts.delete(id);
    const before = await credits.entries(id, 10);
    const refusal = `invalid_request: The account ${id} is deleted.`;
    expect(await refusalOf(credits.grant(id, 5))).to.equal(refusal);
    expect(await refusalOf(credits.renew(id))).to.equal(refusal);
    expect(await credits.entries(id, 10)).to.deep.equal(before);
  });

  it("are granted under references of 1 to 200 characters that are none of a renewal", async () => {
    const refusals = {
      "": "A reference has 1 to 200 characters.",
      ["x".repeat(201)]: "A reference has 1 to 200 characters.",
      "renew:17": "The reference renew:17 begins like those of renewals. Choose another.",
    };
    for (const [reference, refusal] of Object.entries(refusals))
      expect(await refusalOf(credits.grant(id, 5, { reference }))).to.equal(`invalid_request: ${refusal}`);
    expect(await credits.balance(id)).to.include({ monthly: 10, ledgerSeq: 1 });
    for (const reference of ["x", "x".repeat(200)]) await credits.grant(id, 5, { reference });
    expect(await credits.balance(id)).to.include({ monthly: 20, ledgerSeq: 3 });
  });
});
