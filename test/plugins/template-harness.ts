import { type FakeApi, json, tinyMp3 } from "../index.js";
import type { ExpectedTracks, MusicProviderHarness, Script } from "../contracts.js";
import definition from "../../plugins/template/index.js";
import { toTracks } from "../../plugins/template/map.js";

const SUBMIT = { method: "POST", path: "/v1/music" };
const STATUS = { method: "GET", path: "/v1/tasks/:id" };

let tasks = 0;

/** Their API accepts: every call creates another task. */
const accepts: Script = (fake) => {
  fake.on(SUBMIT.method, SUBMIT.path, () => json({ id: `task-${(tasks += 1)}`, status: "queued" }, { status: 202 }));
};

/** The status call responds with this. */
function status(body: object): Script {
  return (fake) => void fake.on(STATUS.method, STATUS.path, json(body));
}

/** The submission is refused with this. */
function refused(code: number, body: object = {}, headers: Record<string, string> = {}): Script {
  return (fake) => void fake.on(SUBMIT.method, SUBMIT.path, json(body, { status: code, headers }));
}

function succeeds(fake: FakeApi, titles: readonly string[]): ExpectedTracks {
  const mixes = titles.map((title) => tinyMp3(title));
  const files = mixes.map((mix, index) => ({ url: fake.file(mix), title: titles[index], seconds: 61.5 }));
  fake.on(STATUS.method, STATUS.path, json({ status: "succeeded", files }));
  return { mixes, tracks: titles.map((title) => ({ title, mixSeconds: 61.5 })) };
}

/** The whole way: accepted, running at the first poll, completed. */
function completes(titles: readonly string[]): Script<ExpectedTracks> {
  return async (fake) => {
    await accepts(fake);
    fake.once(STATUS.method, STATUS.path, json({ status: "running" }));
    return succeeds(fake, titles);
  };
}

/** How the real API would respond, which the suite needs to know. Replace each response by one of its documentation. */
export const harness: MusicProviderHarness = {
  definition,
  firstTask: {
    name: "toTracks in src/map.ts",
    returns: 'one track for each file of their task, with an asset of role "mix" whose source is the URL of the file',
    next: "npm test then runs the whole suite; README.md has the steps after it",
    call: () => toTracks({ id: "task-1", status: "succeeded", files: [{ url: "https://files.example/1.mp3" }] }),
  },
  settings: (fake) => ({ apiKey: "key-of-the-test", baseUrl: fake.url }),
  generation: { submit: SUBMIT, completes: completes(["First"]), severalTracks: completes(["First", "Second"]) },
  work: {
    status: STATUS,
    accepts,
    running: status({ status: "running" }),
    succeeds: (fake) => succeeds(fake, ["First"]),
    fails: [status({ status: "failed", error: { message: "out of memory" } }), status({ status: "failed" })],
    rejectsContent: status({ status: "failed", error: { code: "content_policy", message: "no" } }),
    cancelled: status({ status: "cancelled" }),
    timesOut: { notApplicable: "its tasks have no time limit" },
    gone: (fake) => void fake.on(STATUS.method, STATUS.path, json({}, { status: 404 })),
    expiredLink: { notApplicable: "its files stay" },
    succeedsEmpty: status({ status: "succeeded", files: [] }),
    partlyReady: { notApplicable: "all files are ready at once" },
    others: { "an unknown status": { kind: "unavailable", script: status({ status: "resting" }) } },
  },
  refusals: {
    content: refused(422, { error: { code: "content_policy" } }),
    rateLimit: { script: refused(429, {}, { "retry-after": "7" }), retryAfterMs: 7_000 },
    key: refused(401),
    credit: refused(402),
    unavailable: refused(503),
    input: refused(400),
    errorWith200: { kind: "content_rejected", script: refused(200, { error: { code: "content_policy" } }) },
  },
  idempotency: { notApplicable: "its API takes no key of ours" },
  callbacks: { notApplicable: "it sends no callbacks" },
  lookup: { notApplicable: "its tasks cannot be searched" },
  cancel: { notApplicable: "its tasks cannot be stopped" },
  probe: { notApplicable: "its API reports no credit" },
  stemSplit: { notApplicable: "it splits no tracks" },
  vocalRemoval: { notApplicable: "it splits no tracks" },
};
