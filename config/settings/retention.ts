/** How long each kind of what is stored is kept. Money is not among it: the ledger and the frames of jobs stay. */
import type { Group } from "./definition.js";
import * as kind from "./kinds.js";

/** A century, in place of for ever. */
const DAYS_MAX = 36_500;

/** @param min what callers can count on, or what is still at work on it */
const days = (of: number, min: number, description: string) =>
  kind.integer({ default: of, min, max: DAYS_MAX, unit: "days", description });

export const retention = {
  requestDays: days(
    365,
    30,
    "What ended jobs were asked for (prompt, lyrics, options, metadata) and what their providers were sent and said, " +
      "from when the job was created; tracks keep theirs",
  ),
  attemptDays: days(730, 30, "Attempts of ended jobs, from their end: so far back go the costs of `report margin`"),
  eventDays: days(
    30,
    30,
    "Events with their deliveries; as long as `webhooks.scheduleSeconds` may take where that is more",
  ),
  requestLogDays: days(30, 30, "The log of requests; the API shows 30 days of it"),
  callbackDays: days(14, 14, "What providers reported to their callback addresses"),
  failedAudioHours: kind.integer({
    default: 1,
    min: 1,
    max: 24 * DAYS_MAX,
    unit: "hours",
    description: "Audio of failed jobs and lost uploads, from when it was written",
  }),
} as const satisfies Group;
