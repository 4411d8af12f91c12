import { expect } from "chai";
import type { FermataError } from "../../core/index.js";
import type { SplitRequest } from "../../core/generations/start-split.js";
import { anId } from "../support/builders.js";
import { SPLIT_SETTINGS, SplittingProvider } from "../support/doubles/splitting-provider.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

describe("Splits that an embedding app starts", () => {
  let test: TestApp;
  let caller: TestAccount;
  let mine: string;
  let ownerless: string;
  before(async () => {
    const plugins = [new SplittingProvider().definition];
    test = await startTestApp({ ...UNHEARD, listen: false, plugins, settings: { ...SPLIT_SETTINGS } });
    caller = await test.account();
    const library = await LibraryFixture.open(test.app);
    ({ mine = "" } = await library.add(caller.account.id, { mine: {} }));
    ({ ownerless = "" } = await library.add(null, { ownerless: {} }));
    await library.close();
  });
  after(() => test.close());

  /** @returns the refusal, after which nothing was started */
  async function refusal(request: Partial<SplitRequest>): Promise<string> {
    const error: unknown = await test.app.splits
      .start({ kind: "stem_split", accountId: caller.account.id, trackId: mine, ...request })
      .catch((caught: unknown) => caught);
    expect(await test.app.jobs.list({ limit: 10 })).to.deep.equal([]);
    return `${(error as FermataError).code}: ${(error as Error).message}`;
  }

  it("are of a track that exists, whichever account pays", async () => {
    for (const trackId of [anId("trk"), "17"])
      for (const accountId of [caller.account.id, null])
        for (const reference of ["order 1", undefined])
          expect(await refusal({ trackId, accountId, ...(reference === undefined ? {} : { reference }) })).to.include(
            "track_not_found",
          );
  });

  it("are paid by an account that exists, which has to be named where the track has no owner", async () => {
    for (const accountId of [anId("acct"), "17"])
      expect(await refusal({ accountId })).to.equal(`invalid_request: There is no account ${accountId}.`);
    expect(await refusal({ trackId: ownerless, accountId: null })).to.equal(
      `invalid_request: The track ${ownerless} has no owner. Name the account that pays.`,
    );
  });

  it("are paid by an account that is open", async () => {
    const { account } = await test.account();
    await test.app.accounts.suspend(account.id);
    expect(await refusal({ trackId: ownerless, accountId: account.id })).to.include("account_suspended");
  });

  it("have a reference of printable characters, and a client and metadata as the API takes them", async () => {
    for (const reference of ["", "x".repeat(256), "order\n17", "Köln"])
      expect(await refusal({ reference })).to.equal(
        "invalid_request: A reference has 1 to 255 printable ASCII characters.",
      );
    expect(await refusal({ client: "" }))
      .to.include("invalid_request")
      .and.include("client");
    expect(await refusal({ metadata: { text: "x".repeat(100_000) } }))
      .to.include("invalid_request")
      .and.include("metadata");
  });
});
