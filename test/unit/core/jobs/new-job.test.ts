import { expect } from "chai";
import { newJob, referencesOf } from "../../../../core/jobs/decide-acceptance.js";
import { aJobRequest, anId, NOON } from "../../../support/builders.js";
import { anAcceptCommand } from "./commands.js";

const ROUTE = { providerId: "synth", servedModelId: "song", operation: "music" } as const;
const GIVEN = {
  ...{ id: anId("job"), accountId: anId("acct"), modelId: "synth/song", request: aJobRequest() },
  kind: "music" as const,
  ...{ reference: null, requestId: anId("req"), requestedAt: NOON, createdAt: NOON + 5 },
} as const;

describe("newJob", () => {
  it("waits for its first worker, due at once, at the provider of its route", () => {
    const job = newJob({ ...GIVEN, route: ROUTE });
    expect(job).to.deep.include({ ...GIVEN, ...ROUTE, status: "queued", phase: "waiting", dueAt: NOON + 5 });
    expect(job).to.include({ fence: 0, attempt: 0, refusals: 0, crashes: 0, collectionsBegun: 0 });
    expect(job).to.include({ leaseOwner: null, completedAt: null, endedBy: null, cancelRequestedAt: null });
  });

  it("names no provider where there is none: it is refused", () => {
    const job = newJob({ ...GIVEN, route: null });
    expect(job).to.include({ providerId: "", servedModelId: null, operation: "" });
  });
});

describe("referencesOf", () => {
  it("are the account's reference of a split, and none for a generation", () => {
    const command = anAcceptCommand(GIVEN.accountId);
    expect(referencesOf(command)).to.deep.equal([]);
    const split = { ...command, job: { ...command.job, reference: "order 17" } };
    expect(referencesOf(split)).to.deep.equal([{ accountId: GIVEN.accountId, reference: "order 17" }]);
  });
});
