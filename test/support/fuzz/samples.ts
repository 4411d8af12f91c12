import type { Samples } from "./schema-values.js";

const TRACKS = ["@own.track@", "@own.track@", "@foreign.track@", "@public.track@"];
const LISTS = [[], ["@own.track@"], ["@own.track@", "@public.track@"], ["@foreign.track@"]];
/** Values by the names of members and parameters, with placeholders in place of ids. */
export const SAMPLES: Samples = {
  model_id: ["scripted/song", "scripted/beat"],
  ...{ track_id: TRACKS, track: TRACKS, tracks: LISTS, add: LISTS, remove: LISTS },
  ...{ options: [{}, { seed: 7 }, { loop: true, style_weight: 0.5 }], duration: [30, 60], amount: [1, 1_000] },
  account: ["@own.account@", "@foreign.account@"],
  tier: ["free", "pro"],
  url: ["http://127.0.0.1:9/hook", "https://127.0.0.1:9/@own.track@"],
  scopes: [[], ["models:read"], ["library:read", "generations:create"]],
  period: ["2026-11", "2026-12"],
  ...{ after: ["@own.job@", "0"], cursor: ["@own.cursor@"], before: ["@own.entry@"] },
  status: ["completed", "active", "disabled", "202"],
  ...{ kind: ["music", "stem_split"], provider: ["scripted"], state: ["pending", "delivered", "failed"] },
  ...{ title: ["Rain", "Two\u2028lines", "夜"], prompt: ["rain on a tin roof"], lyrics: ["la la"] },
  ...{ Prefer: ["wait=1", "respond-async"], "Last-Event-ID": ["1"], "If-None-Match": ["*", '"a"'] },
};
