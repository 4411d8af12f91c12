import { expect } from "chai";
import type { AccountId, JobId, TrackId } from "../../core/ids.js";
import type { Job, JobAttempt, JobOutput, JobStatus, JobSummary } from "../../core/jobs/job.js";
import type { ClaimedJob, ClaimRequest } from "../../core/ports/job-claims.js";
import type {
  AttemptUpdate,
  JobFilter,
  JobReference,
  JobUpdate,
  ShownSummary,
  ShownJobFilter,
  ShownState,
  ShownTrackState,
} from "../../core/ports/job-store.js";
import { aHash, aJob, aJobRequest, anAttempt, anId, aTrack, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"jobs" | "library">;

/**
 * The promises of every `JobStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function jobStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`JobStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    async function add(...jobs: readonly Job[]): Promise<void> {
      await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, jobs));
    }
    async function find(id: JobId): Promise<Job | undefined> {
      return (await storage.jobs.findJobs([id])).get(id);
    }
    const update = (...updates: readonly JobUpdate[]): Promise<number> =>
      storage.inTransaction((tx) => storage.jobs.updateJobs(tx, updates));
    const claim = (request: Partial<ClaimRequest> & Pick<ClaimRequest, "providerId">): Promise<ClaimedJob[]> =>
      storage.jobs.claimJobs({
        phases: ["waiting", "submitting"],
        limit: 10,
        now: NOON,
        owner: anId("prc"),
        leaseUntil: NOON + 30_000,
        ...request,
      });

    const NONE_DUE = { waiting: null, submitting: null, rendering: null };
    let providers = 0;
    /** A provider whose jobs no other test claims. */
    const aProviderId = (): string => `provider-${++providers}`;

    describe("references", () => {
      const findByReferences = (...references: readonly JobReference[]): Promise<Job[]> =>
        storage.inTransaction((tx) => storage.jobs.findByReferences(tx, references));

      it("find their job in its account, byte by byte, and nothing when it has none", async () => {
        const accountId = anId("acct");
        const [named, padded, foreign] = [
          aJob({ accountId, reference: "order 17" }),
          aJob({ accountId, reference: "order 17 " }),
          aJob({ reference: "order 17" }),
        ] as const;
        await add(named, padded, foreign, aJob({ accountId }), aJob({ accountId }));
        expect(await findByReferences({ accountId, reference: "order 17" })).to.deep.equal([named]);
        expect(await findByReferences({ accountId, reference: "order 17 " })).to.deep.equal([padded]);
        const ofBoth = [accountId, foreign.accountId].map((owner) => ({ accountId: owner, reference: "order 17" }));
        expect(await findByReferences(...ofBoth)).to.have.deep.members([named, foreign]);
        const ofNone = [
          { accountId, reference: "Order 17" },
          { accountId: anId("acct"), reference: "order 17" },
        ];
        expect(await findByReferences(...ofNone)).to.deep.equal([]);
        expect(await findByReferences()).to.deep.equal([]);
      });

      it("belong to one job of an account: a second one is refused, and nothing of its batch is written", async () => {
        const first = aJob({ reference: "order 17" });
        await add(first);
        const { accountId, reference } = first;
        const [other, second] = [aJob({ accountId }), aJob({ accountId, reference })];
        expect(await add(other, second).catch((error: unknown) => error)).to.be.instanceOf(Error);
        expect(await findByReferences({ accountId, reference: "order 17" })).to.deep.equal([first]);
        expect(await find(other.id)).to.equal(undefined);
      });
    });

    describe("jobs", () => {
      it("stores every member", async () => {
        const bare = aJob();
        const full = aJob({
          reference: "order 17 ",
          requestId: anId("req"),
          trace: { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, tracestate: "shop=7" },
          reserved: { monthly: 3, pack: 4 },
          status: "processing",
          phase: "rendering",
          attempt: 2,
          refusals: 1,
          crashes: 1,
          collectionsBegun: 2,
          cancelRequestedAt: NOON + 5,
          fence: 7,
          leaseOwner: anId("prc"),
          dueAt: NOON + 30_000,
          request: aJobRequest({
            ...{ lyrics: "la\nla", durationSeconds: null, instrumental: false, client: "Ä", metadata: { a: [] } },
            options: { seed: 4_294_967_295, strength: 0.1, tiny: 5e-324, loop: false, text: "né\ud800\u0000" },
          }),
        });
        const failed = aJob({
          status: "failed",
          phase: "ended",
          creditsCharged: 0,
          dueAt: null,
          completedAt: NOON + 1,
          endedBy: anId("rpt"),
          error: { code: "invalid_request", message: "no", details: { reason: "content_rejected" } },
        });
        await add(bare, full, failed);
        const found = await storage.jobs.findJobs([bare.id, full.id, failed.id]);
        expect([...found.values()]).to.deep.equal([bare, full, failed]);
      });

      for (const [what, text] of [
        ["lone surrogates", "high \ud83d low \udc00 end"],
        ["NUL", "before\u0000after"],
        ["emoji and combining marks", "👩‍👩‍👧‍👦 é ﷽ \u202e"],
        ["quotes and backslashes", `'"\`\\u0041 ? :name %`],
      ] as const) {
        it(`stores ${what} in prompts, lyrics and metadata`, async () => {
          const job = aJob({
            request: aJobRequest({ prompt: text, lyrics: text, client: text, metadata: { [text]: [text] } }),
          });
          await add(job);
          expect(await find(job.id)).to.deep.equal(job);
        });
      }

      it("stores the largest possible request", async () => {
        const metadata = { blob: "x".repeat(16 * 1024), deep: { a: { b: { c: { d: { e: { f: 1 } } } } } } };
        const job = aJob({
          request: aJobRequest({ prompt: "🎵".repeat(10_000), lyrics: "ÿ".repeat(10_000), metadata }),
        });
        await add(job);
        expect(await find(job.id)).to.deep.equal(job);
      });

      it("adds many jobs at once", async () => {
        const jobs = Array.from({ length: 600 }, () => aJob());
        await add(...jobs);
        const found = await storage.jobs.findJobs(jobs.map((job) => job.id));
        expect([...found.values()]).to.deep.equal(jobs);
      });

      it("omits unknown ids", async () => {
        const job = aJob();
        await add(job);
        expect([...(await storage.jobs.findJobs([anId("job"), job.id])).keys()]).to.deep.equal([job.id]);
      });

      it("refuses a job whose id exists, and stores none of its batch", async () => {
        const [job, other] = [aJob(), aJob()];
        await add(job);
        expect(await add(other, { ...job, modelId: "synth/v2" }).catch((error: unknown) => error)).to.be.instanceOf(
          Error,
        );
        expect([...(await storage.jobs.findJobs([job.id, other.id])).values()]).to.deep.equal([job]);
      });

      it("locks jobs in ascending order of id, each once, omitting unknown ones", async () => {
        const jobs = [aJob(), aJob(), aJob()];
        await add(...jobs);
        const asked = [...jobs.map((job) => job.id).reverse(), anId("job"), ...jobs.map((job) => job.id)];
        const locked = await storage.inTransaction((tx) => storage.jobs.lockJobs(tx, asked));
        expect([...locked.values()]).to.deep.equal(jobs.map(({ request: _request, ...state }) => state));
      });

      it("locks jobs without waiting in the same order, with none busy where no other transaction writes", async () => {
        const jobs = [aJob(), aJob()];
        await add(...jobs);
        const asked = [...jobs.map((job) => job.id).reverse(), anId("job"), ...jobs.map((job) => job.id)];
        const { locked, busy } = await storage.inTransaction((tx) => storage.jobs.tryLockJobs(tx, asked));
        expect([...locked.values()]).to.deep.equal(jobs.map(({ request: _request, ...state }) => state));
        expect([...busy]).to.deep.equal([]);
      });

      it("returns requests separately, omitting unknown ids", async () => {
        const [job, other] = [aJob(), aJob({ request: aJobRequest({ prompt: "another" }) })];
        await add(job, other);
        const requests = await storage.inTransaction((tx) =>
          storage.jobs.requestsOf(tx, [other.id, anId("job"), job.id, job.id]),
        );
        expect(requests).to.deep.equal(
          new Map([
            [other.id, other.request],
            [job.id, job.request],
          ]),
        );
      });

      it("accepts empty lists", async () => {
        await add();
        expect(await update()).to.equal(0);
        expect((await storage.jobs.findJobs([])).size).to.equal(0);
        await storage.inTransaction(async (tx) => {
          await storage.jobs.insertAttempts(tx, []);
          expect((await storage.jobs.lockJobs(tx, [])).size).to.equal(0);
        });
      });
    });

    describe("jobs as lists show them", () => {
      const shown = (job: Job): JobSummary => ({
        id: job.id,
        accountId: job.accountId,
        kind: job.kind,
        modelId: job.modelId,
        requestId: job.requestId,
        status: job.status,
        creditsCharged: job.creditsCharged,
        createdAt: job.createdAt,
        completedAt: job.completedAt,
        error: job.error,
        request: {
          options: job.request.options,
          sourceTrackId: job.request.sourceTrackId,
          sourceUse: job.request.sourceUse,
        },
      });

      it("are found by id; unknown ids are left out", async () => {
        const plain = aJob({ request: aJobRequest({ lyrics: "la ".repeat(3_000) }) });
        const sourceUse = { mode: "extend", fromSeconds: 1.5, toSeconds: null, strength: null } as const;
        const request = aJobRequest({ options: { seed: 42, loop: true }, sourceTrackId: anId("trk"), sourceUse });
        const full = aJob({ request, ...ended("failed"), error: { code: "generation_failed", message: "No." } });
        await add(plain, full);
        const found = await storage.jobs.findShownJobs([plain.id, anId("job"), full.id]);
        expect(found).to.deep.equal(new Map([plain, full].map((job) => [job.id, { ...shown(job), tracks: [] }])));
        expect((await storage.jobs.findShownJobs([])).size).to.equal(0);
      });

      it("are found with all that can change of their tracks, which is nothing of other jobs", async () => {
        const [one, two, none] = [aJob(ended("completed")), aJob(ended("completed")), aJob(ended("completed"))];
        await add(one, two, none);
        const tracks = [
          aTrack({ jobId: one.id, position: 0 }),
          aTrack({ jobId: one.id, position: 1, linkGeneration: 3 }),
          aTrack({ jobId: two.id, shareToken: `${anId("trk")}_-Az09` }),
        ];
        await storage.inTransaction((tx) => storage.library.insertTracks(tx, [...tracks, aTrack()]));
        const found = await storage.jobs.findShownJobs([two.id, none.id, one.id]);
        const tracksOf = ({ id }: Job): readonly ShownTrackState[] => ascending(found.get(id) as ShownSummary).tracks;
        const states = tracks.map(({ id, shareToken, linkGeneration }) => ({ id, shareToken, linkGeneration }));
        expect(tracksOf(one)).to.have.deep.members(states.slice(0, 2));
        expect([tracksOf(two), tracksOf(none)]).to.deep.equal([states.slice(2), []]);
        for (const { id, accountId, status, creditsCharged, createdAt } of [one, two, none]) {
          const state = (await storage.jobs.newestShownStates([accountId], "music", 5)).get(accountId);
          const shownTracks = ascending(found.get(id) as ShownSummary).tracks;
          expect(state?.map(ascending)).to.deep.equal([
            { id, accountId, status, creditsCharged, createdAt, tracks: shownTracks },
          ]);
        }
      });

      it("are listed by account and kind in every state, the newest first, behind a job", async () => {
        const accountId = anId("acct");
        const jobs = (["queued", "processing", "completed", "failed"] as const).map((status, age) =>
          aJob({ accountId, createdAt: NOON - Math.floor(age / 2), ...ended(status) }),
        );
        jobs.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
        await add(...jobs, aJob(), aJob({ accountId, kind: "stem_split", operation: "stem_split" }));
        const list = (filter: Partial<ShownJobFilter>): Promise<JobSummary[]> =>
          storage.jobs.listShownJobs({ accountId, kind: "music", limit: 100, ...filter });
        expect(await list({})).to.deep.equal(jobs.map(shown));
        expect(await list({ limit: 2 })).to.deep.equal(jobs.slice(0, 2).map(shown));
        for (const [index, after] of jobs.entries())
          expect(await list({ after })).to.deep.equal(jobs.slice(index + 1).map(shown));
      });

      it("are listed of several accounts at once, each by itself", async () => {
        const accountIds = Array.from({ length: 20 }, () => anId("acct"));
        const jobsOf = new Map(
          accountIds.map((accountId, number) => [
            accountId,
            [0, 1, 1, 2].map((age) => aJob({ accountId, createdAt: NOON - number - age, ...ended("completed") })),
          ]),
        );
        const [first = anId("acct")] = accountIds;
        await add(
          ...[...jobsOf.values()].flat(),
          aJob({ accountId: first, kind: "stem_split", operation: "stem_split" }),
        );
        const newest = new Map<AccountId, ShownState[]>();
        for (const accountId of accountIds) {
          const jobs = await storage.jobs.listShownJobs({ accountId, kind: "music", limit: 3 });
          newest.set(
            accountId,
            jobs.map(({ id, status, creditsCharged, createdAt }) => ({
              ...{ id, accountId, status, creditsCharged, createdAt, tracks: [] },
            })),
          );
        }
        expect(newest.get(first)).to.have.length(3);
        const asked = [anId("acct"), ...accountIds].reverse();
        expect(await storage.jobs.newestShownStates(asked, "music", 3)).to.deep.equal(newest);
        expect(await storage.jobs.newestShownStates([first], "music", 3)).to.deep.equal(
          new Map([[first, newest.get(first)]]),
        );
        expect((await storage.jobs.newestShownStates([], "music", 3)).size).to.equal(0);
      });
    });

    describe("lists", () => {
      const list = async (filter: Partial<JobFilter>): Promise<JobId[]> =>
        (await storage.jobs.listJobs({ limit: 100, ...filter })).map((job) => job.id);

      it("have the newest first, then by id", async () => {
        const accountId = anId("acct");
        const [tieLow, newest, tieHigh, oldest] = [
          aJob({ accountId, createdAt: NOON }),
          aJob({ accountId, createdAt: NOON + 1, ...ended("completed") }),
          aJob({ accountId, createdAt: NOON, ...ended("failed") }),
          aJob({ accountId, createdAt: NOON - 1 }),
        ];
        await add(tieLow, newest, tieHigh, oldest);
        expect(await list({ accountId })).to.deep.equal([newest.id, tieHigh.id, tieLow.id, oldest.id]);
      });

      it("have whole jobs", async () => {
        const job = aJob();
        await add(job);
        expect(await storage.jobs.listJobs({ accountId: job.accountId, limit: 1 })).to.deep.equal([job]);
      });

      it("have at most as many as the limit, the newest of all statuses", async () => {
        const accountId = anId("acct");
        const statuses: readonly JobStatus[] = ["queued", "processing", "completed", "failed"];
        const jobs = Array.from({ length: 12 }, (_, age) =>
          aJob({ accountId, createdAt: NOON - age, ...ended(statuses[age % 4] as JobStatus) }),
        );
        await add(...jobs);
        expect(await list({ accountId, limit: 5 })).to.deep.equal(jobs.slice(0, 5).map((job) => job.id));
        expect(await list({ accountId, limit: 0 })).to.deep.equal([]);
      });

      it("have the jobs of a provider, and those behind a job", async () => {
        const providerId = aHash().slice(0, 8);
        const of = { providerId, accountId: anId("acct") };
        const [newest, high, low, oldest] = [
          aJob({ ...of, createdAt: NOON + 1 }),
          aJob({ ...of, ...ended("failed") }),
          aJob({ ...of }),
          aJob({ ...of, createdAt: NOON - 1, ...ended("completed") }),
        ].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)) as [Job, Job, Job, Job];
        await add(low, newest, oldest, high, aJob({ accountId: of.accountId }));
        expect(await list({ providerId })).to.deep.equal([newest.id, high.id, low.id, oldest.id]);
        expect(await list({ providerId, after: high })).to.deep.equal([low.id, oldest.id]);
        expect(await list({ providerId, after: oldest })).to.deep.equal([]);
        expect(await list({ providerId, accountId: anId("acct") })).to.deep.equal([]);
      });

      it("continue among jobs of one moment by their ids", async () => {
        const accountId = anId("acct");
        const [low, middle, high] = [aJob({ accountId }), aJob({ accountId }), aJob({ accountId })];
        await add(middle, high, low);
        expect(await list({ accountId, limit: 2 })).to.deep.equal([high.id, middle.id]);
        expect(await list({ accountId, status: "queued", limit: 1 })).to.deep.equal([high.id]);
      });

      it("filter by account, status and kind", async () => {
        const accountId = anId("acct");
        const [queued, completed] = [aJob({ accountId }), aJob({ accountId, ...ended("completed") })];
        await add(queued, completed, aJob());
        expect(await list({ accountId, status: "completed" })).to.deep.equal([completed.id]);
        expect(await list({ accountId, status: "failed" })).to.deep.equal([]);
        expect(await list({ accountId, status: "queued", kind: "music" })).to.deep.equal([queued.id]);
        expect(await list({ accountId, kind: "music" })).to.have.members([queued.id, completed.id]);
        expect(await list({ accountId: anId("acct") })).to.deep.equal([]);
      });

      it("cover the jobs of all accounts", async () => {
        const later = NOON + 1_000_000;
        const [first, second] = [aJob({ createdAt: later }), aJob({ createdAt: later + 1, ...ended("failed") })];
        await add(first, second);
        expect(await list({ limit: 2 })).to.deep.equal([second.id, first.id]);
        expect(await list({ limit: 1, status: "queued" })).to.deep.equal([first.id]);
      });

      it("have waiting jobs from before a moment, oldest first", async () => {
        const past = NOON - 1_000_000_000;
        const [second, first, atTheMoment, rendering, done] = [
          aJob({ createdAt: past - 1, status: "processing", leaseOwner: anId("prc") }),
          aJob({ createdAt: past - 2 }),
          aJob({ createdAt: past }),
          aJob({ createdAt: past - 2, status: "processing", phase: "rendering" }),
          aJob({ createdAt: past - 3, ...ended("completed") }),
        ];
        await add(second, first, atTheMoment, rendering, done);
        expect(await storage.jobs.findOverdue(past, 10)).to.deep.equal([first, second]);
        expect(await storage.jobs.findOverdue(past, 1)).to.deep.equal([first]);
        expect(await storage.jobs.findOverdue(past - 2, 10)).to.deep.equal([]);
      });
    });

    describe("claims", () => {
      it("leave jobs with an expired lease to their owners on request", async () => {
        const providerId = aProviderId();
        const [free, owned] = [
          aJob({ providerId, dueAt: NOON }),
          aJob({ providerId, dueAt: NOON - 1, leaseOwner: anId("prc"), status: "processing" }),
        ];
        await add(free, owned);
        const request = {
          providerId,
          phases: ["waiting"],
          limit: 5,
          now: NOON,
          owner: anId("prc"),
          leaseUntil: NOON + 1,
        } as const;
        expect((await storage.jobs.claimJobs({ ...request, leaveOwned: true })).map(({ job }) => job.id)).to.deep.equal(
          [free.id],
        );
        expect((await storage.jobs.claimJobs(request)).map(({ job, wasLost }) => [job.id, wasLost])).to.deep.equal([
          [owned.id, true],
        ]);
      });

      it("take a due job under a new fence, leased and processing", async () => {
        const job = aJob({ providerId: aProviderId(), fence: 4, dueAt: NOON, crashes: 1 });
        await add(job);
        const owner = anId("prc");
        const claims = await claim({ providerId: job.providerId, owner, leaseUntil: NOON + 5 });
        const after: Job = { ...job, status: "processing", fence: 5, leaseOwner: owner, dueAt: NOON + 5 };
        const { request: _request, ...state } = after;
        expect(claims).to.deep.equal([{ job: state, request: null, attempts: [], wasLost: false }]);
        expect(await find(job.id)).to.deep.equal(after);
      });

      it("bring what the callers asked for, where that is wanted", async () => {
        const providerId = aProviderId();
        const jobs = [aJob({ providerId, dueAt: NOON - 1 }), aJob({ providerId, dueAt: NOON })];
        await add(...jobs);
        const claims = await claim({ providerId, withRequests: true });
        expect(claims.map(({ request }) => request)).to.deep.equal(jobs.map(({ request }) => request));
      });

      it("leave jobs that are not due, of another provider, in another phase, or ended", async () => {
        const providerId = aProviderId();
        await add(
          aJob({ providerId, dueAt: NOON + 1 }),
          aJob({ providerId: aProviderId(), dueAt: NOON }),
          aJob({ providerId, dueAt: NOON, status: "processing", phase: "rendering" }),
          aJob({ providerId, ...ended("failed") }),
        );
        expect(await claim({ providerId })).to.deep.equal([]);
        expect(await claim({ providerId, phases: ["rendering"] })).to.have.length(1);
        expect(await claim({ providerId, phases: [] })).to.deep.equal([]);
      });

      it("take the longest due first, whatever their phases, up to the limit", async () => {
        const providerId = aProviderId();
        const due = (dueAt: number, phase: Job["phase"]): Job => aJob({ providerId, dueAt, phase });
        const [third, first, second, fourth] = [
          due(NOON - 1, "waiting"),
          due(NOON - 3, "rendering"),
          due(NOON - 2, "waiting"),
          due(NOON, "submitting"),
        ];
        await add(third, first, second, fourth);
        const phases = ["waiting", "submitting", "rendering"] as const;
        const ids = async (limit: number): Promise<JobId[]> =>
          (await claim({ providerId, phases, limit })).map(({ job }) => job.id);
        expect(await ids(0)).to.deep.equal([]);
        expect(await ids(1)).to.deep.equal([first.id]);
        expect(await ids(1)).to.deep.equal([second.id]);
        expect(await ids(3)).to.deep.equal([third.id, fourth.id]);
      });

      it("leave a leased job until its lease ends", async () => {
        const job = aJob({ providerId: aProviderId() });
        await add(job);
        await claim({ providerId: job.providerId, leaseUntil: NOON + 10 });
        expect(await claim({ providerId: job.providerId, now: NOON + 9 })).to.deep.equal([]);
        expect(await claim({ providerId: job.providerId, now: NOON + 10 })).to.have.length(1);
      });

      it("skip the named jobs, and take the next ones instead", async () => {
        const providerId = aProviderId();
        const due = (dueAt: number, phase: Job["phase"] = "waiting"): Job => aJob({ providerId, dueAt, phase });
        const [first, second, third, asked] = [due(NOON - 4), due(NOON - 3), due(NOON - 2), due(NOON - 1, "rendering")];
        await add(first, second, third, asked);
        const phases = ["waiting", "rendering"] as const;
        const ids = async (limit: number, ...except: readonly JobId[]): Promise<JobId[]> =>
          (await claim({ providerId, phases, limit, except })).map(({ job }) => job.id);
        expect(await ids(1, first.id, anId("job"))).to.deep.equal([second.id]);
        expect(await ids(9, first.id, asked.id)).to.deep.equal([third.id]);
        expect(await ids(9, first.id, asked.id)).to.deep.equal([]);
        expect(await ids(9)).to.deep.equal([first.id, asked.id]);
      });

      it("count a lost worker when its lease was not released, and keep its started collection", async () => {
        const job = aJob({ providerId: aProviderId(), collectionsBegun: 1 });
        await add(job);
        await claim({ providerId: job.providerId, leaseUntil: NOON });
        const owner = anId("prc");
        const [again] = await claim({ providerId: job.providerId, owner });
        expect(again?.wasLost).to.equal(true);
        expect(again?.job).to.include({ fence: 2, crashes: 1, collectionsBegun: 1, leaseOwner: owner });
        expect(await find(job.id)).to.deep.equal({ ...again?.job, request: job.request });
      });

      it("count no lost worker when the lease was released", async () => {
        const job = aJob({ providerId: aProviderId() });
        await add(job);
        await claim({ providerId: job.providerId });
        await update({ id: job.id, fence: 1, changes: { status: "queued", leaseOwner: null, dueAt: NOON } });
        const [again] = await claim({ providerId: job.providerId });
        expect(again).to.deep.include({ wasLost: false });
        expect(again?.job).to.include({ fence: 2, crashes: 0 });
      });

      it("never give one job to two workers, however many claim at once", async () => {
        const providerId = aProviderId();
        const jobs = Array.from({ length: 100 }, () => aJob({ providerId }));
        await add(...jobs);
        const claims = await Promise.all(Array.from({ length: 30 }, () => claim({ providerId, limit: 7 })));
        const ids = claims.flat().map(({ job }) => job.id);
        expect(ids).to.have.length(100);
        expect(new Set(ids)).to.deep.equal(new Set(jobs.map((job) => job.id)));
      });
    });

    describe("leases", () => {
      it("are extended by owner and id, and the fences that it holds are returned", async () => {
        const providerId = aProviderId();
        const [mine, alsoMine, theirs] = [aJob({ providerId }), aJob({ providerId, fence: 8 }), aJob({ providerId })];
        const forgotten = aJob({ providerId });
        const [owner, other] = [anId("prc"), anId("prc")];
        await add(mine, alsoMine, forgotten);
        await claim({ providerId, owner });
        await add(theirs);
        await claim({ providerId, owner: other });
        const held = await storage.jobs.renewLeases(owner, [mine.id, alsoMine.id, theirs.id], NOON + 99_000);
        expect(held).to.deep.equal(
          new Map([
            [mine.id, 1],
            [alsoMine.id, 9],
          ]),
        );
        expect((await find(mine.id))?.dueAt).to.equal(NOON + 99_000);
        expect((await find(theirs.id))?.dueAt).to.equal(NOON + 30_000);
        expect((await find(forgotten.id))?.dueAt).to.equal(NOON + 30_000);
      });

      it("are none for an owner without any", async () => {
        expect((await storage.jobs.renewLeases(anId("prc"), [anId("job")], NOON)).size).to.equal(0);
        expect((await storage.jobs.renewLeases(anId("prc"), [], NOON)).size).to.equal(0);
      });

      it("are lost when another worker has claimed the job since", async () => {
        const job = aJob({ providerId: aProviderId() });
        await add(job);
        const owner = anId("prc");
        await claim({ providerId: job.providerId, owner, leaseUntil: NOON });
        await claim({ providerId: job.providerId, leaseUntil: NOON + 7 });
        expect((await storage.jobs.renewLeases(owner, [job.id], NOON + 99_000)).size).to.equal(0);
        expect((await find(job.id))?.dueAt).to.equal(NOON + 7);
      });

      it("determine with the due times when a provider's next job of each phase is due", async () => {
        const providerId = aProviderId();
        expect(await storage.jobs.nextDueAt(providerId)).to.deep.equal(NONE_DUE);
        await add(
          aJob({ providerId, dueAt: NOON + 4 }),
          aJob({ providerId, dueAt: NOON + 3 }),
          aJob({ providerId, dueAt: NOON + 2, status: "processing", phase: "rendering", leaseOwner: anId("prc") }),
          aJob({ providerId, ...ended("completed") }),
          aJob({ providerId: aProviderId(), dueAt: NOON }),
        );
        expect(await storage.jobs.nextDueAt(providerId)).to.deep.equal({
          waiting: NOON + 3,
          submitting: null,
          rendering: NOON + 2,
        });
      });

      it("determine no due time when all of a provider's jobs have ended", async () => {
        const job = aJob({ providerId: aProviderId(), ...ended("failed") });
        await add(job);
        expect(await storage.jobs.nextDueAt(job.providerId)).to.deep.equal(NONE_DUE);
      });
    });

    describe("updates", () => {
      it("write every mutable member, and nothing else", async () => {
        const job = aJob();
        await add(job);
        const changes: Required<JobUpdate["changes"]> = {
          providerId: "fallback",
          servedModelId: "fallback/v1",
          operation: "music_fallback_full",
          status: "failed",
          phase: "ended",
          attempt: 3,
          refusals: 2,
          crashes: 1,
          collectionsBegun: 2,
          cancelRequestedAt: NOON + 5,
          fence: 5,
          leaseOwner: null,
          dueAt: null,
          error: { code: "generation_failed", message: "The provider could not create the track." },
          creditsCharged: 0,
          completedAt: NOON + 9,
          endedBy: anId("rpt"),
        };
        expect(await update({ id: job.id, fence: 0, changes })).to.equal(1);
        expect(await find(job.id)).to.deep.equal({ ...job, ...changes });
      });

      it("clear members set to null and keep those that are not named", async () => {
        const error = { code: "generation_failed", message: "It failed." } as const;
        const job = aJob({ error, leaseOwner: anId("prc"), status: "processing" });
        await add(job);
        await update({ id: job.id, fence: 0, changes: { leaseOwner: null, attempt: undefined } });
        expect(await find(job.id)).to.deep.equal({ ...job, leaseOwner: null });
        await update({ id: job.id, fence: 0, changes: { error: null } });
        expect(await find(job.id)).to.deep.equal({ ...job, leaseOwner: null, error: null });
      });

      it("write only under the current fence", async () => {
        const [stale, current] = [aJob({ fence: 2 }), aJob({ fence: 2 })];
        await add(stale, current);
        const written = await update(
          { id: stale.id, fence: 1, changes: { attempt: 9 } },
          { id: current.id, fence: 2, changes: { attempt: 1 } },
          { id: anId("job"), fence: 0, changes: { attempt: 1 } },
        );
        expect(written).to.equal(1);
        expect(await find(stale.id)).to.deep.equal(stale);
        expect(await find(current.id)).to.deep.equal({ ...current, attempt: 1 });
      });

      it("apply different members in one call, in order", async () => {
        const [first, second] = [aJob(), aJob()];
        await add(first, second);
        const written = await update(
          { id: first.id, fence: 0, changes: { attempt: 1, fence: 1 } },
          { id: second.id, fence: 0, changes: { dueAt: NOON + 1 } },
          { id: first.id, fence: 1, changes: { refusals: 1 } },
          { id: second.id, fence: 0, changes: {} },
        );
        expect(written).to.equal(4);
        expect(await find(first.id)).to.include({ attempt: 1, fence: 1, refusals: 1 });
        expect(await find(second.id)).to.include({ dueAt: NOON + 1 });
      });

      it("settle a large batch", async () => {
        const jobs = Array.from({ length: 256 }, () => aJob());
        await add(...jobs);
        const written = await update(...jobs.map((job) => ({ id: job.id, fence: 0, changes: ended("completed") })));
        expect(written).to.equal(256);
        const found = await storage.jobs.findJobs(jobs.map((job) => job.id));
        expect(new Set([...found.values()].map((job) => job.status))).to.deep.equal(new Set(["completed"]));
      });

      it("write each job's own values, where many change the same members", async () => {
        const jobs = Array.from({ length: 70 }, (_, index) => aJob({ fence: index % 3, dueAt: NOON }));
        await add(...jobs);
        const changesOf = (index: number): JobUpdate["changes"] => ({
          status: index === 5 ? "failed" : "processing",
          dueAt: index % 2 === 0 ? null : NOON + index,
          endedBy: index % 4 === 0 ? null : anId("rpt"),
          error: index === 5 ? { code: "generation_failed", message: "It's \\ ? failed." } : null,
        });
        const updates = jobs.map(({ id, fence }, index) => ({ id, fence, changes: changesOf(index) }));
        expect(await update(...updates)).to.equal(70);
        const found = await storage.jobs.findJobs(jobs.map(({ id }) => id));
        const expected = jobs.map((job, index) => ({ ...job, ...updates[index]?.changes }));
        expect(jobs.map(({ id }) => found.get(id))).to.deep.equal(expected);
      });

      it("refuse an unknown status or phase", async () => {
        const job = aJob();
        await add(job);
        for (const changes of [{ status: "cancelled" }, { phase: "dreaming" }]) {
          const outcome = update({ id: job.id, fence: 0, changes: changes as unknown as JobUpdate["changes"] });
          expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(Error);
        }
        expect(await find(job.id)).to.deep.equal(job);
      });
    });

    describe("ends", () => {
      const hasEnded = (completedAt: number, overrides: Partial<Job> = {}): Job =>
        aJob({ ...ended("completed"), completedAt, ...overrides });
      /** The number up to which all ends of earlier tests are numbered. */
      async function numbered(): Promise<number> {
        while ((await storage.jobs.numberEnds(100)) > 0);
        return storage.jobs.lastEndNumber();
      }
      async function idsAfter(number: number, limit = 100): Promise<JobId[]> {
        return (await storage.jobs.listEnds(number, limit)).map(({ job }) => job.id);
      }

      it("are numbered once, by moment and id, and listed whole by their numbers", async () => {
        const last = await numbered();
        const tied = [hasEnded(NOON + 2), hasEnded(NOON + 2, ended("failed"))].sort((a, b) => (a.id < b.id ? -1 : 1));
        const [first, third] = [hasEnded(NOON + 1), hasEnded(NOON + 3)];
        const inOrder = [first, ...tied.map((job) => ({ ...job, completedAt: NOON + 2 })), third];
        await add(...[...inOrder].reverse(), aJob({ ...ended("queued") }), aJob({ ...ended("processing") }));
        expect(await storage.jobs.numberEnds(3)).to.equal(3);
        expect(await storage.jobs.numberEnds(3)).to.equal(1);
        expect(await storage.jobs.numberEnds(3)).to.equal(0);
        expect(await storage.jobs.lastEndNumber()).to.equal(last + 4);
        expect(await storage.jobs.listEnds(last, 10)).to.deep.equal(
          inOrder.map((job, index) => ({ number: last + index + 1, job })),
        );
        expect(await idsAfter(last + 1, 2)).to.deep.equal(inOrder.slice(1, 3).map(({ id }) => id));
        expect(await idsAfter(last + 4)).to.deep.equal([]);
      });

      it("that are committed later get higher numbers, whatever their moments", async () => {
        const last = await numbered();
        const [late, early] = [hasEnded(NOON + 9), hasEnded(NOON + 1)];
        await add(late);
        await storage.jobs.numberEnds(10);
        await add(early);
        await storage.jobs.numberEnds(10);
        expect(await idsAfter(last)).to.deep.equal([late.id, early.id]);
      });

      it("get each number once from several calls at the same time", async () => {
        const last = await numbered();
        const jobs = Array.from({ length: 30 }, (_, index) => hasEnded(NOON + index));
        await add(...jobs);
        const given = await Promise.all(Array.from({ length: 4 }, () => storage.jobs.numberEnds(30)));
        expect(given.reduce((sum, count) => sum + count)).to.equal(30);
        const ends = await storage.jobs.listEnds(last, 100);
        expect(ends.map(({ number }) => number)).to.deep.equal(jobs.map((_, index) => last + 1 + index));
        expect(new Set(ends.map(({ job }) => job.id))).to.deep.equal(new Set(jobs.map(({ id }) => id)));
      });

      it("since a moment begin behind the number before the first of them", async () => {
        const last = await numbered();
        const later = NOON + 1_000_000;
        expect(await storage.jobs.endNumberBefore(later)).to.equal(last);
        await add(hasEnded(later - 1), hasEnded(later), hasEnded(later + 1));
        await storage.jobs.numberEnds(10);
        expect(await storage.jobs.endNumberBefore(later)).to.equal(last + 1);
        expect(await storage.jobs.endNumberBefore(later + 2)).to.equal(last + 3);
      });
    });

    describe("outputs", () => {
      const addOutputs = (...created: Parameters<typeof storage.jobs.insertOutputs>[1]): Promise<void> =>
        storage.inTransaction((tx) => storage.jobs.insertOutputs(tx, created));
      const anOutput = (label: string, durationSeconds: number | null = 2.5): JobOutput => ({
        label,
        audioKey: `${anId("job")}/1/0-stem.wav`,
        contentType: "audio/wav",
        sizeBytes: 0,
        durationSeconds,
      });

      it("are stored whole, in order, by job", async () => {
        const [one, other, none] = [anId("job"), anId("job"), anId("job")];
        const outputs = [anOutput("vocals"), anOutput("ö 🎼", null), anOutput("drums")];
        const others = [anOutput("vocals")];
        await addOutputs({ jobId: one, outputs }, { jobId: other, outputs: others });
        expect(await storage.jobs.outputsOf([none, other, one])).to.deep.equal(
          new Map([
            [other, others],
            [one, outputs],
          ]),
        );
      });

      it("of a job are written once", async () => {
        const created = { jobId: anId("job"), outputs: [anOutput("vocals")] };
        await addOutputs(created);
        expect(await addOutputs(created).catch((error: unknown) => error)).to.be.instanceOf(Error);
      });
    });

    describe("jobs that work from a track", () => {
      const from = (trackId: TrackId, overrides: Partial<Job> = {}): Job =>
        aJob({ request: aJobRequest({ sourceTrackId: trackId }), ...overrides });
      const split = { kind: "stem_split", operation: "stem_split" } as const;
      const ended = { status: "completed", phase: "ended", dueAt: null, completedAt: NOON } as const;

      it("are found while they are queued or processing, of any account", async () => {
        const trackId = anId("trk");
        const live = (): Promise<Pick<Job, "id" | "accountId"> | null> =>
          storage.inTransaction((tx) => storage.jobs.liveJobFrom(tx, trackId));
        const job = from(trackId, split);
        await add(from(trackId, ended), from(anId("trk")), aJob());
        expect(await live()).to.equal(null);
        await add(job);
        expect(await live()).to.deep.equal({ id: job.id, accountId: job.accountId });
        await update({ id: job.id, fence: job.fence, changes: { status: "processing", phase: "rendering" } });
        expect(await live()).to.deep.equal({ id: job.id, accountId: job.accountId });
        await update({ id: job.id, fence: job.fence, changes: ended });
        expect(await live()).to.equal(null);
      });

      it("lose the outputs of an account's splits, and no others", async () => {
        const [trackId, accountId] = [anId("trk"), anId("acct")];
        const [one, two, music, foreign, unrelated] = [
          from(trackId, { ...split, ...ended, accountId }),
          from(trackId, { ...split, ...ended, accountId, kind: "vocal_removal" }),
          from(trackId, { ...ended, accountId }),
          from(trackId, { ...split, ...ended }),
          from(anId("trk"), { ...split, ...ended, accountId }),
        ];
        const all = [one, two, music, foreign, unrelated];
        const output = { label: "vocals", contentType: "audio/wav", sizeBytes: 1, durationSeconds: null };
        const outputOf = ({ id }: Job): JobOutput => ({ ...output, audioKey: `${id}/1/0-vocals.wav` });
        await add(...all);
        await storage.inTransaction((tx) =>
          storage.jobs.insertOutputs(
            tx,
            all.map((job) => ({ jobId: job.id, outputs: [outputOf(job)] })),
          ),
        );
        const remove = (): Promise<JobOutput[]> =>
          storage.inTransaction((tx) => storage.jobs.deleteSplitOutputs(tx, trackId, accountId));
        expect(await remove()).to.have.deep.members([outputOf(one), outputOf(two)]);
        expect(await remove()).to.deep.equal([]);
        const left = await storage.jobs.outputsOf(all.map(({ id }) => id));
        expect([...left.keys()]).to.have.members([music.id, foreign.id, unrelated.id]);
      });
    });

    it("counts unfinished jobs by provider", async () => {
      const [one, other] = [aHash().slice(0, 8), aHash().slice(0, 8)];
      const ended = { status: "failed", phase: "ended", dueAt: null } as const;
      await add(
        aJob({ providerId: one }),
        aJob({ providerId: one, status: "processing", phase: "rendering" }),
        aJob({ providerId: one, ...ended }),
      );
      await add(aJob({ providerId: other, ...ended }));
      const alive = await storage.jobs.countAlive();
      expect([alive.get(one), alive.get(other)]).to.deep.equal([2, undefined]);
    });

    it("counts waiting and running jobs of a provider", async () => {
      const [one, other] = [aHash().slice(0, 8), aHash().slice(0, 8)];
      const processing = { providerId: one, status: "processing" } as const;
      await add(
        aJob({ providerId: one }),
        aJob({ providerId: one }),
        aJob({ providerId: other }),
        aJob({ providerId: one, ...ended("failed") }),
      );
      await add(aJob({ ...processing, phase: "rendering" }), aJob({ ...processing, phase: "submitting" }));
      expect(await storage.jobs.countWork(one, 100)).to.deep.equal({ waiting: 2, submitting: 1, rendering: 1 });
      expect(await storage.jobs.countWork(one, 1)).to.deep.equal({ waiting: 1, submitting: 1, rendering: 1 });
      const before = (dueAt: number, countMax = 100): Promise<number> =>
        storage.jobs.countWaitingBefore(one, dueAt, countMax);
      const due = (await storage.jobs.nextDueAt(one)).waiting as number;
      expect([await before(due), await before(due + 1), await before(due + 1, 1)]).to.deep.equal([0, 2, 1]);
      expect(await storage.jobs.countWork(aHash().slice(0, 8), 100)).to.deep.equal({
        waiting: 0,
        submitting: 0,
        rendering: 0,
      });
    });

    it("finds since when a provider's waiting jobs are due", async () => {
      const providerId = aHash().slice(0, 8);
      expect(await storage.jobs.waitingSince(providerId)).to.equal(null);
      await add(
        aJob({ providerId, dueAt: NOON + 2_000 }),
        aJob({ providerId, dueAt: NOON + 1_000 }),
        aJob({ providerId, status: "processing", phase: "rendering", dueAt: NOON }),
        aJob({ dueAt: NOON - 1 }),
      );
      expect(await storage.jobs.waitingSince(providerId)).to.equal(NOON + 1_000);
    });

    describe("attempts", () => {
      const addAttempts = (...attempts: readonly JobAttempt[]): Promise<void> =>
        storage.inTransaction((tx) => storage.jobs.insertAttempts(tx, attempts));
      const change = (...updates: readonly AttemptUpdate[]): Promise<void> =>
        storage.inTransaction((tx) => storage.jobs.updateAttempts(tx, updates));
      /** With a distinct value for every member. */
      const full = {
        state: "accepted",
        handle: { version: 1, data: { task: "🎧" } },
        result: { state: "completed", tracks: [] },
        files: { tracks: [], outputs: [], missing: ["a cover"] },
        callEndsAt: NOON + 1,
        acceptedAt: NOON + 2,
        finishedAt: NOON + 3,
        deadlineAt: NOON + 4,
        overdueSince: NOON + 5,
        endReportedAt: NOON + 6,
        cancelDueAt: NOON + 7,
        endedAt: NOON + 8,
        outcome: "unavailable",
        message: "503 — “später”",
        cost: { amount: 0.125, unit: "USD" },
        billable: "unknown",
        loss: "deadline",
      } as const satisfies AttemptUpdate["changes"];

      it("store every member and are listed by job in order", async () => {
        const jobId = anId("job");
        const second = anAttempt({ jobId, number: 2, modelId: null });
        const first = anAttempt({ jobId, number: 1, ...full });
        await addAttempts(second, first, anAttempt());
        expect(await storage.jobs.listAttempts(jobId)).to.deep.equal([first, second]);
        expect(await storage.inTransaction((tx) => storage.jobs.attemptsIn(tx, [jobId, anId("job")]))).to.deep.equal(
          new Map([[jobId, [first, second]]]),
        );
        expect(await storage.jobs.listAttempts(anId("job"))).to.deep.equal([]);
      });

      it("store the tracks of stored files with waveform and lyrics", async () => {
        const words = [{ text: "Regen", startSeconds: 0.25, endSeconds: 1 }];
        const waveform = Uint8Array.from({ length: 400 }, (_, index) => index % 256);
        const tracks = [{ ...aTrack({ waveform }), lyrics: { text: "Regen\nauf Blech", words } }, aTrack()];
        const attempt = anAttempt({ files: { tracks, outputs: [], missing: [] } });
        await addAttempts(attempt);
        const [kept] = await storage.jobs.listAttempts(attempt.jobId);
        expect(kept).to.deep.equal(attempt);
        await storage.inTransaction((tx) => storage.library.insertTracks(tx, kept?.files?.tracks ?? []));
        const id = tracks[0]?.id ?? anId("trk");
        expect((await storage.library.findTracks([id])).get(id)?.waveform).to.deep.equal(Buffer.from(waveform));
      });

      it("are updated by number, in the named members only; null clears", async () => {
        const jobId = anId("job");
        const [first, second] = [anAttempt({ jobId }), anAttempt({ jobId, number: 2 })];
        await addAttempts(first, second);
        await change(
          { jobId, number: 2, changes: full },
          { jobId, number: 1, changes: {} },
          { jobId, number: 7, changes: full },
        );
        expect(await storage.jobs.listAttempts(jobId)).to.deep.equal([first, { ...second, ...full }]);
        await change({
          jobId,
          number: 2,
          changes: { deadlineAt: null, handle: null, state: "abandoned", cost: undefined },
        });
        expect(await storage.jobs.listAttempts(jobId)).to.deep.equal([
          first,
          { ...second, ...full, deadlineAt: null, handle: null, state: "abandoned" },
        ]);
      });

      it("are returned with the claim of their job", async () => {
        const job = aJob({ providerId: aProviderId(), phase: "rendering", status: "processing" });
        await add(job);
        const attempt = anAttempt({ jobId: job.id, ...full });
        await addAttempts(attempt);
        const request = {
          providerId: job.providerId,
          phases: ["rendering"],
          limit: 5,
          now: NOON,
          owner: anId("prc"),
          leaseUntil: NOON + 1,
        } as const;
        expect((await storage.jobs.claimJobs(request)).map(({ attempts }) => attempts)).to.deep.equal([[attempt]]);
      });

      it("past their deadline return their jobs, the longest overdue first; closed ones do not", async () => {
        const past = NOON - 2_000_000_000;
        const attempts = [3, 1, 2].map((moment) => anAttempt({ deadlineAt: past + moment }));
        await addAttempts(...attempts, anAttempt({ deadlineAt: past + 9 }), anAttempt({ deadlineAt: null }));
        const found = await storage.jobs.findOverdueAttempts(past + 3, 10);
        expect(found).to.deep.equal([attempts[1]?.jobId, attempts[2]?.jobId, attempts[0]?.jobId]);
        expect(await storage.jobs.findOverdueAttempts(past + 3, 1)).to.deep.equal([attempts[1]?.jobId]);
      });

      it("to be cancelled are claimed when due, the longest due first, and become due again later", async () => {
        const providerId = aHash().slice(0, 8);
        const toCancel = (cancelDueAt: number | null, provider = providerId): JobAttempt =>
          anAttempt({ providerId: provider, state: "abandoned", cancelDueAt });
        const attempts = [3, 1, 2].map((moment) => toCancel(NOON + moment));
        await addAttempts(...attempts, toCancel(NOON + 9), toCancel(null), toCancel(NOON, "another"));
        const claim = (limit: number): Promise<string[]> =>
          storage.jobs
            .claimCancels(providerId, NOON + 3, NOON + 60, limit)
            .then((claimed) => claimed.map(({ id }) => id));
        expect(await claim(2)).to.deep.equal([attempts[1]?.id, attempts[2]?.id]);
        expect(await claim(9)).to.deep.equal([attempts[0]?.id]);
        expect(await claim(9)).to.deep.equal([]);
        expect((await storage.jobs.claimCancels(providerId, NOON + 60, NOON + 90, 9)).length).to.equal(4);
      });

      it("that are finished return their durations, the last first", async () => {
        const providerId = aHash().slice(0, 8);
        const rendered = (finishedAt: number, acceptedAt: number | null, modelId = "a/b"): JobAttempt =>
          anAttempt({ providerId, modelId, state: "settled", startedAt: NOON, acceptedAt, finishedAt });
        const [long, free] = [30, null].map((durationSeconds) => aJob({ request: aJobRequest({ durationSeconds }) }));
        await add(long as Job, free as Job);
        await addAttempts(
          { ...rendered(NOON + 30, NOON + 10), jobId: (long as Job).id },
          { ...rendered(NOON + 50, NOON + 50), jobId: (free as Job).id },
          rendered(NOON + 90, NOON + 5, "c/d"),
          anAttempt({ providerId, modelId: "a/b" }),
        );
        const times = [
          { ms: 50, lengthSeconds: null },
          { ms: 20, lengthSeconds: 30 },
        ];
        expect(await storage.jobs.renderTimes(providerId, "a/b", 10)).to.deep.equal(times);
        expect(await storage.jobs.renderTimes(providerId, "a/b", 1)).to.deep.equal(times.slice(0, 1));
        expect(await storage.jobs.renderTimes(providerId, "e/f", 1)).to.deep.equal([]);
      });

      it("are refused with a number that exists", async () => {
        const attempt = anAttempt();
        await addAttempts(attempt);
        const outcome = addAttempts(anAttempt({ jobId: attempt.jobId, number: 1 }));
        expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(Error);
        expect(await storage.jobs.listAttempts(attempt.jobId)).to.deep.equal([attempt]);
      });
    });
  });
}

/** The members of a job of this status, so that only an unfinished one is due. */
function ended(status: JobStatus): Pick<Job, "status" | "phase" | "dueAt" | "completedAt"> {
  if (status === "queued" || status === "processing")
    return { status, phase: "waiting", dueAt: NOON, completedAt: null };
  return { status, phase: "ended", dueAt: null, completedAt: NOON };
}

/** What is in no order, in one. */
function ascending<Shown extends ShownState>(shown: Shown): Shown {
  return { ...shown, tracks: [...shown.tracks].sort((a, b) => (a.id < b.id ? -1 : 1)) };
}
