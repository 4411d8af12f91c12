import type { PlaylistChanges, PlaylistRequest } from "../controllers/playlists.js";
import type { WebhookEndpointChanges, WebhookEndpointRequest } from "../controllers/webhook-endpoints.js";
import type { GenerationRequest } from "../create-generation.js";
import type { SplitRequest } from "../create-split.js";
import type { Credits } from "../presenters/credits.js";
import type { AcceptedGeneration, Generation } from "../presenters/generation.js";
import type { Job } from "../presenters/job.js";
import type { LogEntry } from "../presenters/log-entry.js";
import type { Model } from "../presenters/model.js";
import type { Playlist } from "../presenters/playlist.js";
import type { Profile } from "../presenters/profile.js";
import type { AcceptedSplit } from "../presenters/split.js";
import type { SingleTrack, Track } from "../presenters/track.js";
import type { TrackDetails } from "../presenters/track-details.js";
import type { Outlook } from "../presenters/timeline.js";
import type { Usage } from "../presenters/usage.js";
import type { WebhookEvent } from "../presenters/webhook-event.js";
import type { WebhookEndpoint } from "../presenters/webhook-endpoint.js";

const JOB_ID = "job_01m7ysy25j6pcsftb5nnfsysak";
const LINK = "https://music.example.com/audio/job_01m7ysy25j6pcsftb5nnfsysak/1/0-";
const SIGNED = "?expires=1795343102&signature=8Dmi7JrN7nyhxco0Kr3jCUO7Iw_bmQTHR6HvLZpKFpc";

/** Of a page of a list. */
export const CURSOR = "WyI5ZjNiMDI3MWM0ZDhlNmE1IiwxNzk1MjQyNjAwMDAwLCJqb2JfMDFtN3lzeTI1ajZwY3NmdGI1bm5mc3lzYWsiXQ";

export const REQUEST_ID = "req_01m7ysy25cz3ggk0fdms1d8kzd";

export const PROFILE: Profile = {
  id: "acct_01m7ysy1z5168ny60tt498c2tk",
  email_verified: true,
  account_tier: "pro",
  api_available: true,
};

export const CREDITS: Credits = { available: 985, monthly_credits: 985, pack_credits: 0, total_spent: 15 };

export const USAGE: Usage = {
  summary: { requests: 118, credits_used: 45, credits_refunded: 15, failed_requests: 1 },
  events: [
    {
      request_id: REQUEST_ID,
      endpoint: "/api/v1/generations",
      method: "POST",
      status_code: 202,
      credits_used: 15,
      credits_refunded: 0,
      created_at: "2026-11-21T06:30:00.000Z",
      count: 1,
    },
  ],
  next_cursor: null,
};

export const LOGS: LogEntry[] = [
  {
    id: "req_01m7yt6mv39xt4v1ejr9ybtpcd",
    method: "GET",
    path: "/api/v1/jobs/job_unknown",
    status_code: 404,
    error_code: "job_not_found",
    request_bytes: null,
    response_bytes: 131,
    job_id: null,
    created_at: "2026-11-21T06:31:12.004Z",
    count: 1,
  },
  {
    id: REQUEST_ID,
    method: "POST",
    path: "/api/v1/generations",
    status_code: 202,
    error_code: null,
    request_bytes: 214,
    response_bytes: 253,
    job_id: JOB_ID,
    created_at: "2026-11-21T06:30:00.000Z",
    count: 1,
  },
];

export const MODEL: Model = {
  id: "synth/song",
  name: "Synth Song",
  provider_label: "Fermata Synth",
  supports_lyrics: true,
  supports_instrumental: false,
  requires_lyrics: false,
  duration: { minimum: 5, maximum: 180 },
  prompt_max_length: 3_000,
  lyrics_max_length: 10_000,
  credit_cost: 15,
  credit_bounds: { minimum: 15, maximum: 15 },
  status: "available",
  options: [
    {
      name: "bpm",
      type: "integer",
      description: "Beats per minute, whatever the prompt says. Without it the prompt decides.",
      minimum: 40,
      maximum: 220,
    },
  ],
  references: [{ mode: "extend", credit_cost: 15, sources: "own", takes_strength: false }],
};

export const GENERATION_REQUEST: GenerationRequest = {
  model_id: "synth/song",
  prompt: "A slow waltz for a rainy evening, piano and brushed drums",
  lyrics: "Rain on the window, light on the sea",
  duration: 60,
  options: { seed: 42, bpm: 84, key: "F# minor" },
  client: "docs",
  metadata: { scene: 12 },
};

export const ACCEPTED: AcceptedGeneration = {
  id: JOB_ID,
  status: "queued",
  model_id: "synth/song",
  credits_reserved: 15,
  created_at: "2026-11-21T06:30:00.000Z",
  status_url: `https://music.example.com/api/v1/generations/${JOB_ID}`,
};

export const TRACK: Track = {
  id: "trk_01m7yt6mv39xt4v1ejr9ybtpcc",
  title: "Rainy Evening Waltz",
  artist_label: "Fermata Synth",
  bpm: 84,
  duration: 60.032,
  play_url: `${LINK}mix.mp3${SIGNED}`,
  share_url: null,
  thumbnail_url: `${LINK}cover.png${SIGNED}`,
  preview_audio_url: `${LINK}preview.mp3${SIGNED}`,
};

export const TRACK_DETAILS: TrackDetails = {
  waveform: [0, 12, 96, 180, 255, 201, 143, 64],
  splits: [
    { operation: "stem_split", credit_cost: 8, status: "available" },
    { operation: "vocal_removal", credit_cost: 5, status: "available" },
  ],
};

export const SUNG_TRACK: SingleTrack = {
  ...TRACK,
  lyrics: {
    text: "[Verse]\nRain on the window",
    words: [
      { text: "Rain", start: 4.12, end: 4.6 },
      { text: "on", start: 4.6, end: 4.78 },
      { text: "the", start: 4.78, end: 4.9 },
      { text: "window", start: 4.9, end: 5.664 },
    ],
  },
};

export const UPLOADED_TRACK: Track = { ...TRACK, title: "Hummed melody", artist_label: "Upload", bpm: null };

export const SHARED_TRACK: Track = { ...TRACK, share_url: "https://music.example.com/share/7hQ2mXw9Lk4RbT0vYc6sNz" };

export const SPLIT_REQUEST: SplitRequest = { client: "docs", metadata: { scene: 12 } };

export const PLAYLIST: Playlist = {
  id: "pls_01m7ytd9q2b7w4s0e6r1t3y5ua",
  title: "Rainy evenings",
  track_count: 1,
  tracks: [SHARED_TRACK],
};

export const PLAYLIST_REQUEST: PlaylistRequest = { title: PLAYLIST.title, tracks: [TRACK.id] };

export const PLAYLIST_CHANGES: PlaylistChanges = { title: PLAYLIST.title, add: [TRACK.id] };

export const GENERATION: Generation = {
  id: JOB_ID,
  status: "completed",
  model_id: "synth/song",
  credits_charged: 15,
  options: { seed: 42, bpm: 84, key: "F# minor" },
  created_at: "2026-11-21T06:30:00.000Z",
  completed_at: "2026-11-21T06:30:08.412Z",
  tracks: [TRACK],
};

export const RUNNING_GENERATION: Generation = { ...GENERATION, status: "processing", completed_at: null, tracks: [] };

export const JOB: Job = {
  job_id: JOB_ID,
  operation: "music_synth_full",
  provider: "synth",
  status: "completed",
  credits_charged: 15,
  options: { seed: 42, bpm: 84, key: "F# minor" },
  outputs: [
    {
      type: "track",
      label: "full",
      track_id: TRACK.id,
      url: `${LINK}mix.mp3${SIGNED}`,
      content_type: "audio/mpeg",
      duration: 60.032,
      size_bytes: 960_512,
    },
  ],
  created_at: "2026-11-21T06:30:00.000Z",
  completed_at: "2026-11-21T06:30:08.412Z",
};

export const ACCEPTED_SPLIT: AcceptedSplit = {
  job_id: "job_01m7yvd5nn3m0x7t8h4cw2r6ke",
  operation: "stem_split",
  status: "queued",
  track_id: TRACK.id,
  credits_reserved: 8,
  created_at: "2026-11-21T06:40:00.000Z",
  status_url: "https://music.example.com/api/v1/jobs/job_01m7yvd5nn3m0x7t8h4cw2r6ke",
};

export const FAILED_JOB: Job = {
  ...JOB,
  status: "failed",
  credits_charged: 0,
  outputs: [],
  error: { code: "provider_timeout", message: "The provider did not answer in time.", request_id: REQUEST_ID },
};

export const CANCELLED_JOB: Job = {
  ...FAILED_JOB,
  error: {
    code: "generation_failed",
    message: "The job was cancelled.",
    request_id: REQUEST_ID,
    details: { reason: "cancelled" },
  },
};

export const SPLIT_JOB: Job = {
  job_id: ACCEPTED_SPLIT.job_id,
  operation: "stem_split",
  provider: "synth",
  status: "completed",
  credits_charged: 8,
  outputs: [
    {
      type: "stem",
      label: "vocals",
      track_id: TRACK.id,
      url: `https://music.example.com/audio/${ACCEPTED_SPLIT.job_id}/1/0-vocals.mp3${SIGNED}`,
      content_type: "audio/mpeg",
      duration: 60.032,
      size_bytes: 960_512,
    },
  ],
  created_at: ACCEPTED_SPLIT.created_at,
  completed_at: "2026-11-21T06:40:11.208Z",
};

/** A job as events have it. */
export function ended(job: Job): WebhookEvent["body"]["data"] {
  return { ...job, client: "docs", metadata: { order: 17 } };
}

export const WEBHOOK_EVENT: WebhookEvent = {
  id: "evt_01m7ysy8m1w4n6k3rj5v0tq9zd",
  body: { type: "generation.completed", timestamp: "2026-11-21T06:30:08.412Z", data: ended(JOB) },
};

/** Of a stream of server-sent events. */
export const JOB_EVENTS = [
  "retry: 2000",
  `id: accepted\nevent: accepted\ndata: {"id":"accepted","type":"accepted","at":"${JOB.created_at}","credits":15}`,
  `event: outlook\ndata: ${JSON.stringify({
    state: "rendering",
    waiting_before: null,
    percent: 40,
    queue_position: null,
    starts_at: null,
    ends_at: "2026-11-21T06:30:12.000Z",
  } satisfies Outlook)}`,
  `id: completed\nevent: completed\ndata: ${JSON.stringify({
    id: "completed",
    type: "completed",
    at: JOB.completed_at,
    job: JOB,
  })}`,
]
  .map((event) => `${event}\n\n`)
  .join("");

export const WEBHOOK_ENDPOINT: WebhookEndpoint = {
  id: "whe_01m7ytc0ar5c8m0vgw1fjz3q0e",
  url: "https://app.example.com/hooks/fermata",
  status: "active",
  signing_secret_prefix: "whsec_VGhpcy",
  created_at: "2026-11-21T06:30:00.000Z",
  updated_at: "2026-11-21T06:30:00.000Z",
  disabled_at: null,
};

export const WEBHOOK_ENDPOINT_REQUEST: WebhookEndpointRequest = { url: WEBHOOK_ENDPOINT.url };

export const WEBHOOK_ENDPOINT_CHANGES: WebhookEndpointChanges = { status: "disabled" };

/** Obviously invented, so that no reader takes it for a real key. */
export const SIGNING_SECRET = "whsec_VGhpcyBpcyBhbiBleGFtcGxlIGluIHRoZSBkb2NzLg==";
