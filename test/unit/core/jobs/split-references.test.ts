import { expect } from "chai";
import { InsufficientCreditsError, OperationRefusedError, ProviderUnavailableError } from "../../../../core/errors.js";
import { decideAcceptance } from "../../../../core/jobs/decide-acceptance.js";
import type { Job } from "../../../../core/jobs/job.js";
import { aBalance, anId } from "../../../support/builders.js";
import { afterDecision, aSplitCommand, stateOf } from "./commands.js";

describe("decideAcceptance of splits under a reference", () => {
  const balance = aBalance({ monthly: 100 });
  const { accountId } = balance;
  const trackId = anId("trk");

  it("returns the existing job, also where a new one would be refused, and writes nothing", () => {
    const first = decideAcceptance([aSplitCommand(accountId, trackId, "order 17")], stateOf([balance]));
    const [job] = first.jobs as [Job];
    const ended: Job = { ...job, status: "failed", phase: "ended", creditsCharged: 0 };
    const poor = aBalance({ accountId, runningJobs: 10 });
    const state = {
      ...afterDecision(stateOf([balance]), first),
      referenced: [ended],
      balances: stateOf([poor]).balances,
    };
    const again = decideAcceptance(
      [aSplitCommand(accountId, trackId, "order 17", { refusal: new ProviderUnavailableError() })],
      state,
    );
    expect(again).to.deep.equal({ results: [{ kind: "repeated", job: ended }], jobs: [], records: [], movements: [] });
  });

  it("makes one job of two calls in one group", () => {
    const commands = [aSplitCommand(accountId, trackId, "order 17"), aSplitCommand(accountId, trackId, "order 17")];
    const { results, jobs, movements } = decideAcceptance(commands, stateOf([balance]));
    expect(results.map(({ kind }) => kind)).to.deep.equal(["accepted", "repeated"]);
    expect(jobs.map(({ id }) => id)).to.deep.equal([commands[0]?.job.id]);
    expect(movements[0]?.after).to.include({ monthly: 95, runningJobs: 1 });
  });

  it("refuses the reference for another kind or track, naming the job that has it", () => {
    const removal = aSplitCommand(accountId, trackId, "order 17");
    const commands = [
      aSplitCommand(accountId, trackId, "order 17"),
      aSplitCommand(accountId, anId("trk"), "order 17"),
      { ...removal, job: { ...removal.job, kind: "vocal_removal" as const } },
    ];
    const [first, ...others] = decideAcceptance(commands, stateOf([balance])).results;
    expect(first?.kind).to.equal("accepted");
    const message =
      `The reference order 17 was used for another job: ${commands[0]?.job.id}, a stem_split of ` +
      `the track ${trackId}.`;
    for (const other of others) {
      expect(other).to.have.property("error").that.is.instanceOf(OperationRefusedError);
      expect(other).to.have.nested.property("error.message", message);
    }
  });

  it("separates the references of accounts, and those that differ in a letter or a blank", () => {
    const other = aBalance({ monthly: 100 });
    const references = ["a", "A", "a ", " a"].map((reference) => aSplitCommand(accountId, trackId, reference));
    const { results } = decideAcceptance(
      [...references, aSplitCommand(other.accountId, trackId, "a")],
      stateOf([balance, other]),
    );
    expect(results.map(({ kind }) => kind)).to.deep.equal(Array(5).fill("accepted"));
  });

  it("leaves the reference of a refused split free for the next one", () => {
    const costly = aSplitCommand(accountId, trackId, "order 17", { cost: 101 });
    const { results } = decideAcceptance(
      [costly, aSplitCommand(accountId, anId("trk"), "order 17")],
      stateOf([balance]),
    );
    expect(results[0]).to.have.property("error").that.is.instanceOf(InsufficientCreditsError);
    expect(results[1]?.kind).to.equal("accepted");
  });
});
