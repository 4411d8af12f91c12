import { expect } from "chai";
import type { AuditAction } from "../../core/ports/audit-record.js";
import type { App } from "../../config/index.js";
import type { IdGenerator } from "../../core/ports/id-generator.js";
import { anId } from "../support/builders.js";
import { tinyMp3 } from "../support/provider-kit/sounds.js";
import { importTrack } from "../support/library-import.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

/** A call of an embedding app and its audit record; `reads` for a call that changes nothing. */
type Call = "reads" | readonly [action: AuditAction, call: () => Promise<unknown>];

/** A call for every public method: a new method does not compile here until the table says whether it is recorded. */
type CallsOf<T> = Readonly<Record<keyof T, Call>>;

interface Calls {
  readonly accounts: CallsOf<App["accounts"]>;
  readonly exports: CallsOf<App["exports"]>;
  readonly credits: CallsOf<App["credits"]>;
  readonly library: CallsOf<App["library"]["manage"]>;
  readonly submissions: CallsOf<App["submissions"]>;
  readonly jobs: CallsOf<App["jobs"]>;
  readonly operateGenerations: CallsOf<App["operateGenerations"]>;
  readonly splits: CallsOf<App["splits"]>;
  readonly retryJobs: CallsOf<App["retryJobs"]>;
  readonly adminTokens: CallsOf<App["adminTokens"]>;
  readonly audio: CallsOf<App["audio"]>;
  readonly webhooks: CallsOf<Omit<App["webhooks"], "endpoints">>;
  readonly secrets: CallsOf<App["secrets"]>;
}

/** In every text of a customer that the calls below take: names, titles, prompts. */
const PERSON = "Dave Smith";

describe("A call of an embedding app on behalf of its operator", () => {
  let test: TestApp;
  let canRecord = true;
  /** While it cannot record, the storage refuses the transaction: a record needs an id. */
  const ids: IdGenerator = { next: (prefix) => (prefix === "aud" && !canRecord ? (null as never) : anId(prefix)) };
  before(async () => {
    const settings = { plugins: { synth: { enabled: true } } };
    test = await startTestApp({ actor: "billing", settings, listen: false, ids });
  });
  after(() => test.close());

  it("is recorded in the audit log under the app's actor name; read-only calls are not", async () => {
    const { app } = test;
    const { account, keyId } = await test.account();
    const newClient = await app.accounts.create({ name: PERSON, tier: "pro", externalId: `${PERSON} 1` });
    const unwanted = await app.accounts.create({ name: `${PERSON} 2`, tier: "pro" });
    const trackId = await importTrack(app, { audio: tinyMp3() });
    const unused = await importTrack(app, { audio: tinyMp3() });
    const playlist = await app.library.manage.createPlaylist({
      title: `Songs of ${PERSON}`,
      accountId: account.id,
      visibility: "private",
    });
    const { id: jobId } = await app.splits.start({ kind: "vocal_removal", accountId: account.id, trackId });
    const sound = { title: `Songs for ${PERSON}`, accountId: account.id, visibility: "private" } as const;
    const input = { modelId: "scripted/beat", prompt: PERSON, metadata: { for: PERSON } };
    const split = { kind: "stem_split", accountId: account.id, trackId } as const;
    const failed = await app.generations.create(account.id, input);
    await app.jobs.cancel(failed.id);
    const { shown: token } = await app.adminTokens.issue({ name: "bob", role: "owner" });
    const calls: Calls = {
      accounts: {
        get: "reads",
        find: "reads",
        list: "reads",
        listKeys: "reads",
        create: ["accounts.create", () => app.accounts.create({ name: `${PERSON} 3`, tier: "free", credits: 5 })],
        ensure: ["accounts.create", () => app.accounts.ensure({ externalId: PERSON, acceptTerms: true })],
        findByExternalId: "reads",
        acceptTerms: ["accounts.accept_terms", () => app.accounts.acceptTerms(newClient.id)],
        changeTier: ["accounts.change_tier", () => app.accounts.changeTier(newClient.id, "free")],
        suspend: ["accounts.suspend", () => app.accounts.suspend(newClient.id)],
        resume: ["accounts.resume", () => app.accounts.resume(newClient.id)],
        delete: ["accounts.delete", () => app.accounts.delete(unwanted.id)],
        deletion: "reads",
        issueKey: ["keys.issue", () => app.accounts.issueKey(account.id, { name: PERSON })],
        recordStudioLink: ["studio.link", () => app.studioLink(account.id)],
        revokeKey: ["keys.revoke", () => app.accounts.revokeKey(keyId)],
        revokeKeys: ["keys.revoke_all", () => app.accounts.revokeKeys({ accountId: account.id })],
      },
      exports: {
        hasFile: "reads",
        readFile: "reads",
        open: ["accounts.export", () => app.exports.open(account.id)],
      },
      credits: {
        balance: "reads",
        verify: "reads",
        verifyInSteps: "reads",
        entries: "reads",
        grant: ["credits.grant", () => app.credits.grant(account.id, 5)],
        renew: ["credits.renew", () => app.credits.renew(account.id)],
      },
      library: {
        playlist: "reads",
        trackWithLyrics: "reads",
        createPlaylist: ["playlists.create", () => app.library.manage.createPlaylist(sound)],
        editPlaylist: ["playlists.edit", () => app.library.manage.editPlaylist(playlist.id, { title: PERSON })],
        deletePlaylist: ["playlists.delete", () => app.library.manage.deletePlaylist(playlist.id)],
        share: ["library.share", () => app.library.manage.share(trackId)],
        unshare: ["library.unshare", () => app.library.manage.unshare(trackId)],
        deleteTrack: ["library.delete", () => app.library.manage.deleteTrack(unused)],
      },
      submissions: {
        arePaused: "reads",
        find: "reads",
        pause: ["submissions.pause", () => app.submissions.pause()],
        resume: ["submissions.resume", () => app.submissions.resume()],
      },
      jobs: {
        list: "reads",
        show: "reads",
        cancel: ["jobs.cancel", () => app.jobs.cancel(jobId)],
      },
      operateGenerations: { create: ["generations.create", () => app.operateGenerations.create(account.id, input)] },
      splits: { start: ["splits.start", () => app.splits.start(split)] },
      retryJobs: { retry: ["jobs.retry", () => app.retryJobs.retry(failed.id)] },
      adminTokens: {
        list: "reads",
        identify: "reads",
        issue: ["admin_tokens.issue", () => app.adminTokens.issue({ name: "carol", role: "read" })],
        revoke: ["admin_tokens.revoke", () => app.adminTokens.revoke(token.id)],
      },
      secrets: {
        status: "reads",
        rotate: ["secrets.rotate", () => app.secrets.rotate()],
        retire: ["secrets.retire", () => app.secrets.retire({ force: false }, new AbortController().signal)],
      },
      audio: { collect: ["audio.collect", () => app.audio.collect({ isDryRun: false })] },
      // Calls that need an endpoint are covered by the tests of the command line.
      webhooks: {
        endpoint: "reads",
        allEndpoints: "reads",
        deliveries: "reads",
        blockedEndpoints: "reads",
        resend: ["webhooks.resend", () => Promise.resolve()],
        resendSince: ["webhooks.resend", () => Promise.resolve()],
        ping: ["webhooks.ping", () => Promise.resolve()],
        rotateSecret: ["webhooks.rotate_secret", () => Promise.resolve()],
      },
    };
    const { webhooks: _elsewhere, ...groups } = calls;
    let { count } = await app.audit.verify();
    for (const [group, methods] of Object.entries(groups)) {
      for (const [method, call] of Object.entries(methods as Record<string, Call>)) {
        if (call === "reads") continue;
        await call[1]();
        const [created] = await app.audit.list({ limit: 1 });
        expect([created?.action, created?.number, created?.actor], `${group}.${method}`).to.deep.equal([
          call[0],
          count + 1,
          "billing",
        ]);
        count += 1;
      }
    }
    await app.library.import({ playlists: [{ ref: "p", visibility: "public", title: PERSON, tracks: [] }] });
    expect((await app.audit.list({ limit: 1 }))[0]).to.include({ action: "library.import", number: count + 1 });
    await app.library.upload({ accountId: account.id, audio: tinyMp3(), title: PERSON });
    expect((await app.audit.list({ limit: 1 }))[0]).to.include({ action: "library.upload", number: count + 2 });
    expect((await app.audit.verify()).broken).to.equal(null);
    // Records outlive the account that they are about, so that they have none of its words.
    const about = await app.audit.list({ limit: 1_000 });
    expect(about.filter((record) => JSON.stringify(record).includes(PERSON))).to.deep.equal([]);
  });

  it("is not recorded when it is refused or changes nothing", async () => {
    const { app } = test;
    const { account } = await test.account();
    const before = (await app.audit.verify()).count + 1;
    await app.credits.grant(account.id, 5, { reference: "order 18" });
    await app.credits.grant(account.id, 5, { reference: "order 18" });
    await app.accounts.ensure({ externalId: PERSON, tier: "pro" });
    await app.accounts.resume(account.id);
    await app.accounts.acceptTerms(account.id);
    await app.audio.collect({ isDryRun: true });
    const refused = await Promise.allSettled([
      app.accounts.changeTier(account.id, "gold"),
      app.accounts.revokeKey("key_unknown"),
      app.credits.grant(account.id, -5),
      app.jobs.cancel("job_unknown"),
    ]);
    expect(refused.map(({ status }) => status)).to.deep.equal(Array(4).fill("rejected"));
    expect((await app.audit.verify()).count).to.equal(before);
  });

  it("is rolled back when it cannot be recorded", async () => {
    const { app } = test;
    const { account } = await test.account();
    const trackId = await importTrack(app, { audio: tinyMp3() });
    const split = { kind: "vocal_removal", accountId: account.id, trackId } as const;
    const { id: jobId } = await app.splits.start(split);
    const [before, { count }] = [await app.credits.balance(account.id), await app.audit.verify()];
    canRecord = false;
    const done = await Promise.allSettled([
      app.splits.start(split),
      app.jobs.cancel(jobId),
      app.audio.collect({ isDryRun: false }),
    ]);
    canRecord = true;
    expect(done.map(({ status }) => status)).to.deep.equal(Array(3).fill("rejected"));
    expect(await app.credits.balance(account.id)).to.deep.equal(before);
    const jobs = await app.jobs.list({ accountId: account.id, limit: 10 });
    expect(jobs.map(({ id, status }) => [id, status])).to.deep.equal([[jobId, "queued"]]);
    expect((await app.audit.verify()).count).to.equal(count);
    // The same call succeeds when it can be recorded again.
    await app.jobs.cancel(jobId);
    expect((await app.audit.list({ limit: 1 }))[0]).to.include({ action: "jobs.cancel", number: count + 1 });
  });

  it("is refused when the actor name is too long", async () => {
    const error = await startTestApp({ actor: "x".repeat(101) }).catch((cause: unknown) => cause);
    expect((error as Error).message).to.include("An actor's name has 1 to 100 characters.");
  });
});
