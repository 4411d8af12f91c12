import { expect } from "chai";
import fc from "fast-check";
import type { AccountId } from "../../../core/ids.js";
import { type ApiResponse, dataOf, refusalOf } from "../../support/api-client.js";
import { eventually } from "../../support/process.js";
import type { TestAccount, TestApp } from "../../support/test-app.js";
import type { ScriptedRenders } from "./scripted-renders.js";
import { COSTS, type ModelAccount, type ModelRequest } from "./reference-model.js";

/** The model of every account. */
export type Model = readonly ModelAccount[];

/** The system: an app, its callers, and what its provider is to do. */
export interface Real {
  readonly test: TestApp;
  readonly renders: ScriptedRenders;
  readonly callers: readonly TestAccount[];
  /** The body of every acceptance, by its job. */
  readonly bodies: Map<string, string>;
}

type Command = fc.AsyncCommand<Model, Real>;

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly credits_charged: number;
}

/** A command on one account, after which the system looks as the model does. */
abstract class OnAccount implements Command {
  constructor(protected readonly account: number) {}

  check(_model: Readonly<Model>): boolean {
    return true;
  }

  async run(model: Model, real: Real): Promise<void> {
    const [account, caller] = [model[this.account], real.callers[this.account]];
    if (account === undefined || caller === undefined) throw new Error(`There is no account ${this.account}.`);
    await this.act(account, caller, real);
    for (const [index, each] of model.entries()) await expectAlike(each, real.callers[index] as TestAccount);
  }

  protected abstract act(account: ModelAccount, caller: TestAccount, real: Real): Promise<void>;
}

async function expectAlike(account: ModelAccount, { api }: TestAccount): Promise<void> {
  if (account.isSuspended) return;
  const { monthly, pack, available, spent } = account;
  expect(dataOf(await api.get("/api/v1/credits"))).to.deep.equal({
    ...{ available, monthly_credits: monthly, pack_credits: pack, total_spent: spent },
  });
  const { generations } = dataOf<{ readonly generations: readonly Shown[] }>(
    await api.get("/api/v1/generations?limit=50"),
  );
  expect(generations.map(({ id, status, credits_charged: charged }) => `${id} ${status} ${charged}`)).to.deep.equal(
    account.jobs
      .toReversed()
      .slice(0, 50)
      .map(({ id, status, request }) => `${id} ${status} ${status === "failed" ? 0 : COSTS[request.model]}`),
  );
}

class Create extends OnAccount {
  constructor(
    account: number,
    private readonly key: string,
    private readonly request: ModelRequest,
  ) {
    super(account);
  }

  protected override async act(account: ModelAccount, { api }: TestAccount, { renders, bodies }: Real): Promise<void> {
    const { model, ...others } = this.request;
    const expected = account.answerTo(this.key, this.request);
    const response = await api.generate({ model_id: `scripted/${model}`, ...others }, { "Idempotency-Key": this.key });
    if (expected.kind === "refused") {
      expect(refusalOf(response)).to.equal(expected.refusal);
      return;
    }
    expect([response.status, response.headers.get("idempotent-replayed")]).to.deep.equal([
      202,
      expected.kind === "replayed" ? "true" : null,
    ]);
    if (expected.kind === "replayed") {
      expect(response.text).to.equal(bodies.get(expected.job.id));
      return;
    }
    const { id, credits_reserved: reserved } = dataOf<{ id: string; credits_reserved: number }>(response);
    expect(reserved).to.equal(expected.cost);
    bodies.set(id, response.text);
    account.accept(this.key, id, this.request);
    await renders.begun(id);
  }

  override toString(): string {
    return `create(${this.account}, ${this.key}, ${JSON.stringify(this.request)})`;
  }
}

/** The provider ends a job that it works on. */
class End extends OnAccount {
  constructor(
    account: number,
    private readonly index: number,
    private readonly outcome: "completed" | "failed",
  ) {
    super(account);
  }

  override check(model: Readonly<Model>): boolean {
    return (model[this.account]?.open.length ?? 0) > 0;
  }

  protected override async act(account: ModelAccount, _caller: TestAccount, { test, renders }: Real): Promise<void> {
    const job = account.open[this.index % account.open.length];
    if (job === undefined) throw new Error("No job is open.");
    renders.end(job.id, this.outcome);
    await test.app.generations.wait(job.id);
    if (this.outcome === "completed") account.complete(job);
    else account.fail(job);
  }

  override toString(): string {
    return `end(${this.account}, ${this.index}, ${this.outcome})`;
  }
}

/** The provider cannot cancel: a job that it has goes on, and one that has ended stays as it is. */
class Cancel extends OnAccount {
  constructor(
    account: number,
    private readonly index: number,
  ) {
    super(account);
  }

  override check(model: Readonly<Model>): boolean {
    const account = model[this.account];
    return account !== undefined && account.jobs.length > 0 && !account.isSuspended;
  }

  protected override async act(account: ModelAccount, { api }: TestAccount): Promise<void> {
    const job = account.jobs[this.index % account.jobs.length];
    const response: ApiResponse = await api.send("POST", `/api/v1/jobs/${job?.id}/cancel`);
    expect(dataOf<{ outcome: string }>(response).outcome).to.equal(job?.status === "processing" ? "running" : "ended");
  }

  override toString(): string {
    return `cancel(${this.account}, ${this.index})`;
  }
}

/** What operators do with an account. */
class Operate extends OnAccount {
  constructor(
    account: number,
    private readonly name: string,
    private readonly change: (test: TestApp, id: AccountId) => Promise<unknown>,
    private readonly apply: (account: ModelAccount) => void,
  ) {
    super(account);
  }

  protected override async act(
    account: ModelAccount,
    { account: { id }, api }: TestAccount,
    { test }: Real,
  ): Promise<void> {
    await this.change(test, id);
    this.apply(account);
    // A suspension holds within a second.
    const status = account.isSuspended ? 403 : 200;
    await eventually(`${status} for the account`, async () => (await api.get("/api/v1/me")).status === status);
  }

  override toString(): string {
    return `${this.name}(${this.account})`;
  }
}

export function commandsOn(accounts: number): fc.Arbitrary<Iterable<Command>> {
  const account = fc.nat(accounts - 1);
  const request = fc.record(
    {
      model: fc.constantFrom("song" as const, "beat" as const),
      prompt: fc.constantFrom("rain", "wind"),
      client: fc.constant("studio"),
    },
    { requiredKeys: ["model", "prompt"] },
  );
  const operate = fc.oneof(
    fc.tuple(account, fc.constantFrom(1, 7, 20), fc.constantFrom("monthly" as const, "pack" as const)).map(
      ([on, amount, bucket]) =>
        new Operate(
          on,
          `grant ${amount} ${bucket}`,
          (test, id) => test.app.credits.grant(id, amount, { bucket }),
          (each) => each.grant(amount, bucket),
        ),
    ),
    fc.tuple(account, fc.constantFrom("2026-01", "2026-02")).map(
      ([on, period]) =>
        new Operate(
          on,
          `renew ${period}`,
          (test, id) => test.app.credits.renew(id, { period }),
          (each) => each.renew(period),
        ),
    ),
    fc.tuple(account, fc.boolean()).map(
      ([on, isSuspended]) =>
        new Operate(
          on,
          isSuspended ? "suspend" : "resume",
          (test, id) => (isSuspended ? test.app.accounts.suspend(id) : test.app.accounts.resume(id)),
          (each) => (each.isSuspended = isSuspended),
        ),
    ),
  );
  const create = fc
    .tuple(account, fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"), request)
    .map(([on, key, asked]) => new Create(on, key, asked));
  const end = fc
    .tuple(account, fc.nat(4), fc.constantFrom("completed" as const, "failed" as const))
    .map(([on, index, outcome]) => new End(on, index, outcome));
  const cancel = fc.tuple(account, fc.nat(4)).map(([on, index]) => new Cancel(on, index));
  return fc.commands([create, create, create, end, end, cancel, operate], { maxCommands: 40 });
}
