import { expect } from "chai";
import { type FakeResponse, htmlPage, text } from "../../support/provider-kit/responses.js";
import { FakeApi, type Route } from "../../support/provider-kit/fake-api.js";
import { expectNone } from "./expect-none.js";
import { isApplicable, type MusicProviderHarness } from "./harness.js";
import type { Operation, ProviderUnderTest } from "./tested.js";

/** Answers that are none, whatever the provider. */
export const GARBAGE: readonly (readonly [what: string, response: FakeResponse])[] = [
  ["broken JSON", { status: 200, headers: { "content-type": "application/json" }, body: '{"id": "tas' }],
  ["an empty body", { status: 200, body: "" }],
  ["a page of HTML", htmlPage(200)],
  ...["{}", "[]", "null", "42", '"ok"'].map(
    (body) => [`the JSON ${body}`, { status: 200, headers: { "content-type": "application/json" }, body }] as const,
  ),
];

/** What becomes of a submission when the way to the provider is bad. */
export function describeLosses(harness: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  const names = (["generation", "stemSplit", "vocalRemoval"] as const).filter((group) => isApplicable(harness[group]));
  const operations: Readonly<Record<(typeof names)[number], Operation["name"]>> = {
    generation: "music",
    stemSplit: "stem_split",
    vocalRemoval: "vocal_removal",
  };
  for (const group of names) {
    const operation = operations[group];
    const scenarios = harness[group];
    if (isApplicable(scenarios) && !isApplicable(scenarios.submit)) {
      it(`makes ${operation} without any call: ${scenarios.submit.notApplicable}`, async () => {
        await tested().submit(operationOf(tested(), operation).request());
        expectNone(tested().host.fetched, "calls of a provider without network");
        expect(tested().fake.requests).to.have.lengthOf(0);
      });
    } else describeLost(operation, harness, tested, (started) => operationOf(started, operation));
  }
}

function operationOf(tested: ProviderUnderTest, operation: Operation["name"]): Operation {
  const found = tested.operations().find(({ name }) => name === operation);
  if (found === undefined) throw new Error(`the harness has no ${operation}`);
  return found;
}

/**
 * The same for one call that creates.
 *
 * @param name what it is called in the titles
 * @param pick the operation whose call it is, of a plugin that was started
 */
export function describeLost(
  name: string,
  harness: MusicProviderHarness,
  tested: () => ProviderUnderTest,
  pick: (started: ProviderUnderTest) => Operation,
): void {
  const prepared = async (): Promise<Operation & { readonly submit: Route }> => {
    const operation = pick(tested());
    if (operation.submit === null) throw new Error(`${name} has no call that creates`);
    await operation.completes(tested().fake);
    return { ...operation, submit: operation.submit };
  };

  for (const [what, fault] of [
    ["the connection is cut before it was read", "cut-request"],
    ["the reply is lost", "cut-reply"],
    ["the reply is cut off in the middle", "cut-body"],
  ] as const) {
    it(`does not know the outcome of ${name} when ${what}, and sends it once`, async () => {
      const { submit, request } = await prepared();
      // Another call gets the same response, and is counted.
      tested().fake.spoil(submit, fault, 5);
      const { kind } = await tested().failure(tested().submit(request()));
      expect(tested().fake.calls(submit).length, "how often the call that creates was sent").to.equal(1);
      expect(kind).to.equal("outcome_unknown");
    });
  }

  it(`ends ${name} at once when it is aborted on the way, and leaves nothing open`, async () => {
    const { submit, request } = await prepared();
    const stop = new AbortController();
    tested().fake.spoil(submit, "hang");
    const failed = tested().failure(tested().submit(request(), stop.signal));
    await Promise.race([tested().fake.received(submit), failed]);
    stop.abort();
    expect((await failed).kind).to.equal("outcome_unknown");
    await tested().fake.idle();
    expect(tested().fake.calls(submit)).to.have.lengthOf(1);
  });

  it(`sends nothing of ${name} once it is aborted`, async () => {
    const { submit, request } = await prepared();
    const { kind } = await tested().failure(tested().submit(request(), AbortSignal.abort()));
    expect(tested().fake.calls(submit).length, "how often the call that creates was sent").to.equal(0);
    expect(kind).to.equal("unavailable");
  });

  it(`is unavailable for ${name} when the connection is refused`, async () => {
    const gone = await FakeApi.open();
    await gone.close();
    // Another server may have its port by now; nothing listens at this one.
    gone.url = "http://127.0.0.1:2";
    const lonely = await tested().another(() => harness.settings(gone));
    const { kind } = await lonely.failure(lonely.submit(pick(lonely).request()));
    expect(kind).to.equal("unavailable");
  });

  for (const [what, response] of GARBAGE) {
    it(`takes ${what} for no success of ${name}, and does not invite another try`, async () => {
      const { submit, request } = await prepared();
      tested().fake.instead(submit, response);
      const { kind } = await tested().failure(tested().submit(request()));
      expect(kind).to.be.oneOf(["outcome_unknown", "failed"]);
      expect(tested().fake.calls(submit)).to.have.lengthOf(1);
    });
  }

  it(`takes a gateway's page of status 502 for no success of ${name}`, async () => {
    const { submit, request } = await prepared();
    tested().fake.instead(submit, htmlPage(502));
    const { kind } = await tested().failure(tested().submit(request()));
    expect(kind).to.be.oneOf(["outcome_unknown", "unavailable", "failed"]);
  });

  it(`follows no redirect of ${name}, to wherever it would carry the key`, async () => {
    const { submit, request } = await prepared();
    tested().fake.instead(submit, { status: 307, headers: { location: `${tested().fake.url}/elsewhere` } });
    await tested().failure(tested().submit(request()));
    expect(tested().fake.calls({ method: submit.method, path: "/elsewhere" })).to.have.lengthOf(0);
    expect(tested().fake.calls({ method: "GET", path: "/elsewhere" })).to.have.lengthOf(0);
  });

  it(`keeps its key to itself when the provider repeats it in a refusal of ${name}`, async () => {
    const { submit, request } = await prepared();
    tested().fake.instead(submit, ({ headers, path, query, body }) =>
      text(JSON.stringify({ error: `bad key`, headers, path, query, body: body.toString("latin1") }), { status: 401 }),
    );
    await tested().failure(tested().submit(request()));
    expectNone(tested().leaks(), "a secret of the settings stands in an error, a log line or a handle");
  });
}
