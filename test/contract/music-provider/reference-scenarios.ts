import type { ProviderReference, ReferenceMode, SourceAudio } from "../../../core/ports/music-provider.js";
import type { Route } from "../../support/provider-kit/fake-api.js";
import type { FakeRequest } from "../../support/provider-kit/request.js";
import type { ExpectedTracks, HarnessRequest, OrNot, Script } from "./scenario.js";

/** The track that a generation of the suite works from. */
export interface GivenTrack {
  readonly bytes: Uint8Array;
  /** Served by the fake where the mode declares `needsUrl`, else null. */
  readonly url: string | null;
  readonly reference: ProviderReference | null;
}

/** What a provider was sent of the points in a track and of the strength. */
export interface SentPoints {
  /** Seconds. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** From 0 (nothing of the track is kept) to 1, whatever the provider counts in. */
  readonly strength?: number | undefined;
}

/** How the provider is asked to work from a track in one mode. */
export interface ReferenceScenario {
  /** The call that creates in this mode; an upload before it is none. Not applicable: a provider without network. */
  readonly submit: OrNot<Route>;
  /** From the submission to the files, `extend` from the end of the track. */
  readonly completes: Script<ExpectedTracks>;
  /** Which model of the harness; the first that declares the mode by default. */
  readonly model?: string;
  /** What a request needs besides, where `request` of the harness does not fit the model. */
  readonly request?: HarnessRequest;
  /**
   * What `SourceAudio.reference` holds for the provider's own tracks. Needed when `sources` is `own`; when it is `any`,
   * tracks with and without it are tried.
   */
  readonly own?: ProviderReference;
  /** Members that the track needs in addition: 20 seconds of MP3, or of WAV where the mode takes no MP3. */
  readonly source?: Partial<SourceAudio>;
  /** Whether the track came over: its bytes, its link or its own id, in whatever call. */
  receivedSource(requests: readonly FakeRequest[], track: GivenTrack): boolean;
  /**
   * What was sent of the points and the strength, in seconds and 0 to 1; what was not sent is left out, or undefined.
   * Needed when the mode has any: `extend`, `inpaint`, and `takesStrength`.
   */
  sent?(requests: readonly FakeRequest[]): SentPoints;
}

/** By mode; each mode that a model of the harness declares is there, and no other. */
export type ReferenceScenarios = { readonly [Mode in ReferenceMode]?: ReferenceScenario };
