import type { Account } from "../../core/ports/account.js";
import { type AdminClient, OWNER_TOKEN, startAdminApp } from "../api/admin/admin-client.js";
import { dataOf } from "./api-client.js";
import { submitAccepts, type SubmitBehaviour, submitCompletes, submitFails } from "./doubles/scripted-provider.js";
import { FaultReceiver } from "./fault-receiver/receiver.js";
import { eventually } from "./process.js";
import type { TestAccount, TestApp } from "./test-app.js";

/** An installation with something of everything that the console shows. */
export interface ConsoleFixture {
  readonly test: TestApp;
  /** Where the console is. */
  readonly url: string;
  readonly owner: AdminClient;
  readonly ownerToken: string;
  /** Has jobs of every state, credits of both buckets, several keys, and two endpoints. */
  readonly radio: TestAccount;
  readonly suspended: Account;
  readonly deleted: Account;
  readonly jobs: Readonly<Record<"completed" | "retried" | "failed" | "rendering", string>>;
  /** One whose receiver takes everything, and one whose receiver is out of order. */
  readonly endpoints: Readonly<Record<"good" | "failing", string>>;
  /** A shared track of the account, and a public playlist of its tracks. */
  readonly music: Readonly<Record<"track" | "playlist", string>>;
  readonly receiver: FaultReceiver;
  /** A token of this role. */
  tokenOf(role: "read" | "operate"): Promise<string>;
  close(): Promise<void>;
}

export async function openConsoleFixture(): Promise<ConsoleFixture> {
  const receiver = await FaultReceiver.open();
  const { test, owner } = await startAdminApp({
    work: true,
    settings: {
      jobs: { maxAttempts: 2, backoffMs: 0, shutdownGraceSeconds: 0.1 },
      webhooks: { allowHttp: true, allowNetworks: ["127.0.0.0/8"] },
    },
  });
  const close = async (): Promise<void> => {
    await test.close();
    await receiver.close();
  };
  try {
    const radio = await openRadio(test, owner);
    const endpoints = {
      good: await register(radio, receiver.url("/ok", { host: "127.0.0.1", server: "http" })),
      failing: await register(radio, receiver.url("/status/503", { host: "127.0.0.1", server: "http" })),
    };
    const jobs = await runJobs(test, radio, owner);
    const music = await openMusic(test, radio);
    const suspended = await test.app.accounts.create({ name: "Harbour Games", tier: "free", acceptTerms: true });
    await test.app.accounts.suspend(suspended.id, { reason: "key in a public repository" });
    await test.app.accounts.create({ name: "Quiet Café", tier: "free" });
    const deleted = await test.app.accounts.create({ name: "Gone Fishing", tier: "free" });
    await test.app.accounts.delete(deleted.id);
    await eventually("both receivers were tried", async () =>
      (await Promise.all(Object.values(endpoints).map((id) => test.app.webhooks.deliveries(id, 50)))).every((list) =>
        list.some(({ tries }) => tries.length > 0),
      ),
    );
    return {
      test,
      owner,
      ownerToken: OWNER_TOKEN,
      url: `${test.url}/console`,
      radio,
      suspended,
      deleted,
      jobs,
      endpoints,
      music,
      receiver,
      tokenOf: async (role) =>
        dataOf<{ token: string }>(await owner.send("POST", "/tokens", { name: `the ${role} test`, role })).token,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openRadio(test: TestApp, owner: AdminClient): Promise<TestAccount> {
  const radio = await test.account({ credits: 1_000 });
  const { id } = radio.account;
  await test.app.credits.grant(id, 250, { bucket: "pack", reference: "order 17" });
  await test.app.accounts.issueKey(id, { name: "laptop", scopes: ["models:read", "generations:read"] });
  const { key } = await test.app.accounts.issueKey(id, { name: "old CI" });
  await owner.delete(`/keys/${key.id}`, "the CI moved");
  return radio;
}

async function openMusic(test: TestApp, { api, account }: TestAccount): Promise<ConsoleFixture["music"]> {
  const { tracks } = dataOf<{ tracks: readonly { id: string }[] }>(await api.get("/api/v1/library/search"));
  const [track = "", ...others] = tracks.map(({ id }) => id);
  const { manage } = test.app.library;
  await manage.share(track);
  const wanted = { accountId: account.id, visibility: "public", tracks: [track, ...others] } as const;
  const { id: playlist } = await manage.createPlaylist({ ...wanted, title: "Rain at night" });
  await manage.createPlaylist({ title: "House favourites", accountId: null, visibility: "public" });
  return { track, playlist };
}

async function register({ api }: TestAccount, url: string): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  return dataOf<{ id: string }>(await api.send("POST", "/api/v1/webhook-endpoints", { headers, body: { url } })).id;
}

async function runJobs(test: TestApp, { api }: TestAccount, owner: AdminClient): Promise<ConsoleFixture["jobs"]> {
  const { provider } = test;
  const run = async (behaviour: SubmitBehaviour, prompt: string): Promise<string> => {
    provider.behaviour = behaviour;
    const body = { model_id: "scripted/song", prompt };
    return dataOf<{ id: string }>(await api.generate(body, { Prefer: "wait=20" })).id;
  };
  const completed = await run(submitCompletes, "rain on a tin roof, slow piano, a distant train");
  await run(submitCompletes, "lanterns over the harbour");
  let calls = 0;
  const retried = await run((request, context) => {
    calls += 1;
    return (calls === 1 ? submitFails("unavailable") : submitCompletes)(request, context);
  }, "a march for two accordions");
  const failed = await run(submitFails("content_rejected"), "a song in the voice of a famous singer");
  provider.behaviour = submitAccepts(20);
  provider.pollBehaviour = () =>
    Promise.resolve({ state: "running", nextPollMs: 60_000, progress: { percent: 40, queuePosition: 2 } });
  const { id: rendering } = dataOf<{ id: string }>(await api.generate({ model_id: "scripted/song", prompt: "dawn" }));
  await eventually("a job renders", async () => {
    const report = dataOf<{ timeline: { outlook: { percent: number | null } } }>(await owner.get(`/jobs/${rendering}`));
    return report.timeline.outlook.percent !== null;
  });
  return { completed, retried, failed, rendering };
}
