import { z } from "zod";
import type { Schemas } from "./sdk.js";

/** Shapes of the API's responses. Members that later versions add are let through. */
export const TRACK = z.looseObject({
  id: z.string(),
  title: z.string(),
  artist_label: z.string(),
  bpm: z.number().nullable(),
  duration: z.number().nullable().describe("Seconds"),
  play_url: z.string().nullable().describe("Signed link to the audio; needs no key and expires"),
  share_url: z.string().nullable(),
  thumbnail_url: z.string().nullable(),
  preview_audio_url: z.string().nullable(),
});

export const MODEL = z.looseObject({
  id: z.string(),
  name: z.string(),
  provider_label: z.string(),
  supports_lyrics: z.boolean(),
  supports_instrumental: z.boolean(),
  credit_cost: z.number().describe("Whole credits for one generation"),
  status: z.string(),
});

export const CREDITS = z.looseObject({
  available: z.number(),
  monthly_credits: z.number(),
  pack_credits: z.number(),
  total_spent: z.number(),
});

/** Of what a caller names. A path takes well-formed text only; no other is an id, and so none is found by it. */
export const ID = z
  .string()
  .min(1)
  .overwrite((id) => id.toWellFormed());

const STATUS = z.string().describe("queued, processing, completed or failed");

export const GENERATION = z.looseObject({
  id: z.string(),
  status: STATUS,
  model_id: z.string(),
  credits_charged: z.number(),
  created_at: z.string(),
  completed_at: z.string().nullable(),
  tracks: z.array(TRACK),
});

export const JOB = z.looseObject({
  job_id: z.string(),
  operation: z.string(),
  provider: z.string(),
  status: STATUS,
  credits_charged: z.number(),
  outputs: z.array(
    z.looseObject({
      type: z.string(),
      label: z.string(),
      track_id: z.string().nullable(),
      url: z.string(),
      content_type: z.string(),
      duration: z.number().nullable(),
      size_bytes: z.number().nullable(),
    }),
  ),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
  created_at: z.string(),
  completed_at: z.string().nullable(),
});

export const PLAYLIST = z.looseObject({ id: z.string(), title: z.string(), track_count: z.number() });

export type Track = Schemas["Track"];
export type Job = Schemas["Job"];

const WAIT_MAX_SECONDS = 600;
/** Below the 60 seconds after which clients of the official SDK give a call up. */
const WAIT_DEFAULT_SECONDS = 45;

export const WAIT_SECONDS = z
  .int()
  .min(0)
  .max(WAIT_MAX_SECONDS)
  .default(WAIT_DEFAULT_SECONDS)
  .describe("How long to wait for the end of the job; 0 returns at once. Stay below your client's own timeout");

/** Arguments of every tool that charges. */
export const CHARGING = {
  idempotency_key: z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, "must have 1 to 255 printable ASCII characters")
    .optional()
    .describe("To retry a call without paying twice: the key that its result named, with the same arguments"),
  confirm_cost: z
    .int()
    .min(0)
    .optional()
    .describe("The cost in credits that the user has agreed to, where the tool asked for a confirmation"),
  wait_seconds: WAIT_SECONDS,
};
