import { dataOf } from "../support/api-client.js";
import { submitCompletes } from "../support/doubles/scripted-provider.js";
import type { LibraryFixture } from "../support/library-fixture.js";
import type { TestAccount, TestApp } from "../support/test-app.js";

/** An account that has something of every kind, none of it public. */
export interface Owner extends TestAccount {
  readonly job: string;
  readonly track: string;
  readonly playlist: string;
  readonly endpoint: string;
  /** All that it sees of its own, for comparing before and after. */
  look(): Promise<string>;
}

/** The word in everything that only its owner may read. */
export const PRIVATE_WORD = "zaunkoenig";

const READS = [
  ...["/api/v1/credits", "/api/v1/generations", "/api/v1/library/search?limit=25", "/api/v1/playlists"],
  "/api/v1/webhook-endpoints?status=all",
];

/** What the id in the path of an operation names of the owner's; null where that is no possession. */
export function idFor(
  { job, track, playlist, endpoint, account }: Owner,
  { path }: { readonly path: string },
): string | null {
  if (/\/(generations|jobs)\/\{/.test(path)) return job;
  if (path.includes("/tracks/{")) return track;
  if (path.includes("/playlists/{")) return playlist;
  if (path.includes("/webhook-endpoints/{")) return endpoint;
  return path.includes("/accounts/{") ? account.id : null;
}

export async function anOwner(test: TestApp, library: LibraryFixture): Promise<Owner> {
  const caller = await test.account();
  const { api, account } = caller;
  test.provider.behaviour = submitCompletes;
  const created = await api.generate(
    { model_id: "scripted/song", prompt: PRIVATE_WORD, metadata: { note: PRIVATE_WORD } },
    { Prefer: "wait=20" },
  );
  const { id: job } = dataOf<{ id: string }>(created);
  await test.app.generations.wait(job);
  const added = await library.add(
    account.id,
    { [PRIVATE_WORD]: { prompt: PRIVATE_WORD } },
    { list: { title: PRIVATE_WORD, tracks: [PRIVATE_WORD] } },
  );
  const registered = await api.send("POST", "/api/v1/webhook-endpoints", {
    headers: { "Content-Type": "application/json" },
    body: { url: `https://${PRIVATE_WORD}.example.com/hook` },
  });
  const { id: endpoint } = dataOf<{ id: string }>(registered);
  return {
    ...caller,
    ...{ job, track: added[PRIVATE_WORD] ?? "", playlist: added["list"] ?? "", endpoint },
    async look() {
      const seen = await Promise.all(READS.map((path) => api.get(path)));
      return seen.map(({ text }) => text.replace(/\?expires=\d+&signature=[\w-]+/g, "")).join("\n");
    },
  };
}
