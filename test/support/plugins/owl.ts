import { type FakeApi, json } from "../provider-kit/index.js";

export const KEY = "owl-key-1234567890";
export const OWL_SONGS = { method: "POST", path: "/songs" } as const;
export const WORK = { method: "GET", path: "/songs/:id" } as const;

/** The vendor of the plugin {@link owl}: a song is complete at the second poll. */
export function owlVendor(fake: FakeApi, mix: Uint8Array): void {
  const files = [{ role: "mix", url: fake.file(mix), type: "audio/mpeg" }];
  fake
    .on("GET", "/me", json({ left: 12.5 }))
    .on("POST", OWL_SONGS.path, json({ song: "song-1" }))
    .once("GET", WORK.path, json({ state: "running", waitMs: 50 }))
    .on("GET", WORK.path, json({ state: "done", files, cost: 0.03 }))
    .on("DELETE", WORK.path, json({}));
}

/** A plugin as a module of one's own has it, without an import: accepted work that is polled and can be cancelled. */
export function owl(): string {
  return `
const model = { supportsLyrics: true, supportsInstrumental: true };
const brand = Symbol.for("fermata.provider-failure");
const failure = (kind, message, providerCode) => Object.assign(new Error(message), {
  [brand]: true, kind, billable: "unknown", retryAfterMs: null, providerCode, requestId: null,
});
export default {
  id: "owl",
  label: "Night Owl",
  portVersion: 2,
  concurrency: 1,
  hosts: [],
  settings: {
    apiKey: { type: "string", required: true, secret: true, description: "Key" },
    baseUrl: { type: "string", required: true, description: "URL" },
  },
  models: [
    {
      ...model, id: "owl/long", name: "Long", creditCost: 5, upstreamCost: { amount: 0.5, unit: "USD" },
      duration: null,
    },
    {
      ...model, id: "owl/short", name: "Short", creditCost: 9, upstreamCost: { amount: 0.02, unit: "USD" },
      duration: { minSeconds: 3, maxSeconds: 60, defaultSeconds: 30 },
    },
  ],
  capabilities: { idempotentSubmit: false, lookup: false, cancel: true },
  create({ settings, fetch, logger }) {
    const { origin } = new URL(settings.baseUrl);
    const call = async (method, path, signal) => {
      const headers = { authorization: "Bearer " + settings.apiKey };
      return (await fetch(origin + path, { method, headers, signal })).json();
    };
    const asset = ({ role, url, type }) => (
      { role, label: "full", contentType: type, durationSeconds: null, source: { kind: "url", url } }
    );
    return {
      async probe({ signal }) {
        return { credit: { amount: (await call("GET", "/me", signal)).left, unit: "USD" }, warnings: [] };
      },
      async submit(request, { signal }) {
        logger.warn("Submitting with " + settings.apiKey);
        const { song } = await call("POST", "/songs", signal);
        return { state: "accepted", handle: { version: 1, data: { song } }, nextPollMs: 50 };
      },
      async poll({ data }, { signal }) {
        const { state, words, waitMs, files, cost } = await call("GET", "/songs/" + data.song, signal);
        if (state === "broken") throw failure("failed", words, "E7");
        if (state === "running") return { state, nextPollMs: waitMs };
        const tags = { mood: [], activity: [], genre: [], other: [] };
        const paid = cost === undefined ? {} : { cost: { amount: cost, unit: "USD" } };
        return { state: "completed", ...paid, tracks: [{ title: "Hoot", bpm: null, tags, assets: files.map(asset) }] };
      },
      async cancel({ data }, { signal }) {
        await call("DELETE", "/songs/" + data.song, signal);
        return "requested";
      },
    };
  },
};
`;
}
