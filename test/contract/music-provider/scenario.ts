import type { MusicRequest, ProviderAsset, ProviderCost, ProviderLyrics } from "../../../core/ports/music-provider.js";
import type { FakeApi } from "../../support/provider-kit/fake-api.js";

/** A scenario that cannot exist at this provider, and why. The suite then checks that the plugin does not claim it. */
export interface NotApplicable {
  readonly notApplicable: string;
}

export type OrNot<T> = T | NotApplicable;

/**
 * Teaches the fake one situation: `fake.on("POST", "/v1/music", json({ … }))`. On a fake that knows nothing yet, or
 * only `accepts`.
 */
export type Script<Result = void> = (fake: FakeApi) => Result | Promise<Result>;

/** What must come out of work that succeeds. */
export interface ExpectedTracks {
  /**
   * The bytes of every track's playable file, in the provider's order; files that the fake serves as URL are fetched.
   */
  readonly mixes: readonly Uint8Array[];
  /** What it cost, where the provider tells. */
  readonly cost?: ProviderCost;
  /** What the tracks must hold in addition, in the same order. */
  readonly tracks?: readonly {
    readonly title?: string | null;
    readonly bpm?: number | null;
    readonly mixSeconds?: number | null;
    readonly lyrics?: ProviderLyrics;
    /** All files in addition to the mix, in any order; left out, they are read and not compared. */
    readonly otherFiles?: readonly ExpectedFile[];
  }[];
}

/** A stem, cover, master or preview of a track. */
export interface ExpectedFile extends Pick<ProviderAsset, "role" | "label"> {
  readonly bytes: Uint8Array;
}

export interface ExpectedStems {
  /** The bytes of every stem, by our label: `vocals`, `instrumental`, `drums`, `bass`, `other`, … */
  readonly stems: { readonly [label: string]: Uint8Array };
  readonly cost?: ProviderCost;
}

/** What the harness decides of a request. */
export type HarnessRequest = Partial<Pick<MusicRequest, "prompt" | "lyrics" | "durationSeconds" | "instrumental">>;

/**
 * Narrowing that plain truthiness cannot do: a script is a function, a group an object, and either may be said not to
 * exist.
 */
export function isApplicable<T>(scenario: OrNot<T>): scenario is T {
  return !(typeof scenario === "object" && scenario !== null && "notApplicable" in scenario);
}
