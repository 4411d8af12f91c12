import { expect } from "chai";
import { A_GENERATION, ApiClient, type ApiResponse, dataOf, refusalOf } from "../support/api-client.js";
import { submitCompletes, submitFails, submitHolds } from "../support/doubles/scripted-provider.js";
import { UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

interface Credits {
  readonly available: number;
  readonly total_spent: number;
}

/** API6:2023, https://owasp.org/API-Security/editions/2023/en/0xa6-unrestricted-access-to-sensitive-business-flows/ */
describe("What could be got for nothing (OWASP API6)", () => {
  let test: TestApp;
  beforeEach(async () => {
    test = await startTestApp({ ...UNHEARD, work: true });
  });
  afterEach(() => test.close());

  const creditsOf = async ({ api }: TestAccount): Promise<Credits> => dataOf(await api.get("/api/v1/credits"));
  const count = (responses: readonly ApiResponse[], status: number): number =>
    responses.filter((response) => response.status === status).length;

  async function endOf(responses: readonly ApiResponse[]): Promise<void> {
    const accepted = responses.filter(({ status }) => status === 202);
    for (const response of accepted) await test.app.generations.wait(dataOf<{ id: string }>(response).id);
  }

  it("is no song beyond what the credits pay, however many requests and keys race for them", async () => {
    const caller = await test.account({ credits: 35 });
    const { token } = await test.app.accounts.issueKey(caller.account.id, {});
    const second = { api: new ApiClient(test.url, token) };
    test.provider.behaviour = submitCompletes;
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? caller : second).api.generate()),
    );
    expect([count(answers, 202), count(answers, 402)]).to.deep.equal([3, 37]);
    await endOf(answers);
    expect(await creditsOf(caller)).to.include({ available: 5, total_spent: 30 });
  });

  it("is no credit by refunds: what failed or was cancelled gives back what was taken, once", async () => {
    const caller = await test.account({ credits: 100 });
    test.provider.behaviour = submitFails("content_rejected");
    const failing = await Promise.all(Array.from({ length: 5 }, () => caller.api.generate()));
    await endOf(failing);
    const { behaviour, release } = submitHolds();
    test.provider.behaviour = behaviour;
    const running = await Promise.all(Array.from({ length: 5 }, () => caller.api.generate()));
    const cancel = async (response: ApiResponse): Promise<ApiResponse> =>
      caller.api.send("POST", `/api/v1/jobs/${dataOf<{ id: string }>(response).id}/cancel`);
    await Promise.all([...running, ...running, ...failing].map(cancel));
    release();
    await endOf(running);
    await Promise.all([...running, ...failing].map(cancel));
    const { available, total_spent: spent } = await creditsOf(caller);
    const completed = await Promise.all(
      running.map(async (response) => (await test.app.generations.wait(dataOf<{ id: string }>(response).id)).status),
    );
    expect(spent).to.equal(10 * completed.filter((status) => status === "completed").length);
    expect(available + spent).to.equal(100);
    expect((await test.app.credits.verify({ full: true })).violations).to.deep.equal([]);
  });

  it("is no place beyond the tier's, however many requests race for it", async () => {
    const caller = await test.account({ tier: "free" });
    const { behaviour, release } = submitHolds();
    test.provider.behaviour = behaviour;
    const answers = await Promise.all(Array.from({ length: 20 }, () => caller.api.generate()));
    expect(count(answers, 202)).to.equal(1);
    expect(new Set(answers.filter(({ status }) => status !== 202).map(refusalOf))).to.deep.equal(
      new Set(["409 generation_concurrency_exceeded"]),
    );
    release();
    await endOf(answers);
  });

  it("is no answer of another account under its Idempotency-Key", async () => {
    const [one, other] = [await test.account(), await test.account()];
    const headers = { "Idempotency-Key": "order-1" };
    const [first, second] = [
      await one.api.generate(A_GENERATION, headers),
      await other.api.generate(A_GENERATION, headers),
    ];
    expect([first.status, second.status]).to.deep.equal([202, 202]);
    expect(dataOf<{ id: string }>(first).id).not.to.equal(dataOf<{ id: string }>(second).id);
    await endOf([first, second]);
    for (const caller of [one, other]) expect((await creditsOf(caller)).total_spent).to.equal(10);
  });
});
