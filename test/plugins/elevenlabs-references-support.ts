import { asObject, type JsonObject } from "../../plugins/sdk/index.js";
import type {
  ExpectedTracks,
  MusicProviderHarness,
  ReferenceScenario,
  Script,
  SentPoints,
} from "../contract/music-provider.contract.js";
import { type FakeApi, type FakeRequest, json } from "../support/provider-kit/index.js";

export const UPLOAD = { method: "POST", path: "/v1/music/upload" } as const;
export const UPLOADED_ID = "jR4Xz8kL2mNpQ9wVtY1b";
const PLAN = { method: "POST", path: "/v1/music/plan" } as const;
const COMPOSE = { method: "POST", path: "/v1/music/detailed" } as const;
const OWN_ID = "sng_kept_there";

export function uploads(fake: FakeApi): void {
  fake.on("POST", UPLOAD.path, json({ song_id: UPLOADED_ID, composition_plan: null, words_timestamps: null }));
}

/** The chunks of the plan that was sent last. */
export function chunksIn(requests: readonly FakeRequest[]): JsonObject[] {
  const { composition_plan: plan } = asObject(requests.findLast(({ path }) => path === COMPOSE.path)?.json);
  const { chunks } = asObject(plan);
  return (Array.isArray(chunks) ? chunks : []).map(asObject);
}

const isKept = ({ song_id: id }: JsonObject): boolean => id !== undefined;

/** What is new stands between what is kept. */
function pointsIn(requests: readonly FakeRequest[], mode: "extend" | "inpaint"): SentPoints {
  const chunks = chunksIn(requests);
  const partMs = chunks.filter((chunk) => !isKept(chunk)).reduce((sum, chunk) => sum + Number(chunk["duration_ms"]), 0);
  // A track that is replaced as a whole has nothing that is kept; its chunks are fitted, which a generation's are not.
  const plan = asObject(requests.findLast(({ path }) => path === PLAN.path)?.json);
  if (chunks[0] === undefined || (!chunks.some(isKept) && plan["music_length_ms"] !== partMs)) return {};
  const head = isKept(chunks[0]) ? Number(asObject(chunks[0]["range"])["end_ms"]) : 0;
  return { from: head / 1_000, to: mode === "inpaint" ? (head + partMs) / 1_000 : undefined };
}

const receivedSource: ReferenceScenario["receivedSource"] = (requests, { bytes, reference }) => {
  const ids = chunksIn(requests).map(({ song_id: id }) => id);
  const isOwn = reference !== null && ids.includes(reference["songId"]);
  const wasUploaded = requests.some((request) => {
    const file = request.path === UPLOAD.path ? request.field("file") : undefined;
    return typeof file === "object" && Buffer.from(bytes).equals(file.bytes);
  });
  return isOwn !== (wasUploaded && ids.includes(UPLOADED_ID));
};

export function referencesWith(completes: Script<ExpectedTracks>): NonNullable<MusicProviderHarness["references"]> {
  const common = {
    submit: COMPOSE,
    completes: (fake: FakeApi) => {
      uploads(fake);
      return completes(fake);
    },
    own: { songId: OWN_ID },
    receivedSource,
  };
  return {
    extend: { ...common, sent: (requests) => pointsIn(requests, "extend") },
    inpaint: { ...common, sent: (requests) => pointsIn(requests, "inpaint") },
  };
}
