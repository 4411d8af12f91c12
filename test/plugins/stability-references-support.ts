import type {
  ExpectedTracks,
  MusicProviderHarness,
  ReferenceScenario,
  Script,
} from "../contract/music-provider.contract.js";
import type { FakeRequest } from "../support/provider-kit/index.js";

export const COVER = { method: "POST", path: "/v2beta/audio/stable-audio/audio-to-audio" } as const;
export const INPAINT = { method: "POST", path: "/v2beta/audio/stable-audio/inpaint" } as const;
export const COVER_AT_2 = { method: "POST", path: "/v2beta/audio/stable-audio-2/audio-to-audio" } as const;
export const INPAINT_AT_2 = { method: "POST", path: "/v2beta/audio/stable-audio-2/inpaint" } as const;

const ROUTES = [COVER, INPAINT, COVER_AT_2, INPAINT_AT_2];

/** The file in the form, if it has one. */
function fileIn(request: FakeRequest): Uint8Array | null {
  const file = request.field("audio");
  return typeof file === "object" ? file.bytes : null;
}

/** Their strength says how much is regenerated. */
function sentIn(requests: readonly FakeRequest[]): ReturnType<NonNullable<ReferenceScenario["sent"]>> {
  const call = requests.find(({ path }) => ROUTES.some((route) => route.path === path));
  const numberOf = (name: string): number | undefined => {
    const value = call?.field(name);
    return typeof value === "string" ? Number(value) : undefined;
  };
  const strength = numberOf("strength");
  return {
    from: numberOf("mask_start"),
    to: numberOf("mask_end"),
    strength: strength === undefined ? undefined : 1 - strength,
  };
}

/** Both modes, of one of the two endpoints. */
export function referencesOn(
  routes: { readonly cover: typeof COVER | typeof COVER_AT_2; readonly inpaint: typeof INPAINT | typeof INPAINT_AT_2 },
  completes: (path: string) => Script<ExpectedTracks>,
  coverModel?: string,
): NonNullable<MusicProviderHarness["references"]> {
  const receivedSource: ReferenceScenario["receivedSource"] = (requests, { bytes }) =>
    requests.some((request) => Buffer.from(bytes).equals(fileIn(request) ?? new Uint8Array()));
  const common = { receivedSource, sent: sentIn };
  const cover = { ...common, submit: routes.cover, completes: completes(routes.cover.path) };
  return {
    cover: coverModel === undefined ? cover : { ...cover, model: coverModel },
    inpaint: { ...common, submit: routes.inpaint, completes: completes(routes.inpaint.path) },
  };
}
