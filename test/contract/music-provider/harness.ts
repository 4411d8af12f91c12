import type {
  ProviderCost,
  ProviderDefinition,
  ProviderFailureKind,
  ProviderHandle,
  ProviderHost,
  ProviderModel,
  SourceAudio,
} from "../../../core/ports/music-provider.js";
import type { MultipartPart } from "../../support/provider-kit/responses.js";
import type { FakeApi, Route } from "../../support/provider-kit/fake-api.js";
import type { FakeRequest } from "../../support/provider-kit/request.js";
import type { ReferenceScenarios } from "./reference-scenarios.js";
import type { ExpectedStems, ExpectedTracks, HarnessRequest, OrNot, Script, NotApplicable } from "./scenario.js";

export * from "./scenario.js";

/** A function that is left to the author of a new package. */
export interface FirstTask {
  /** Its name and its file. */
  readonly name: string;
  /** What it has to return. */
  readonly returns: string;
  /** What the author does once it is written. */
  readonly next: string;
  /** Calls it with an example. Unwritten, it throws a `ProviderFailure` with the `providerCode` `not_written`. */
  call(): unknown;
}

export interface GenerationScenarios {
  /** The call that makes billed work. Not applicable: a provider without network. */
  readonly submit: OrNot<Route>;
  /** From the submission to the files; work that is accepted is seen running at least once. */
  readonly completes: Script<ExpectedTracks>;
  /** One submission that makes more than one track. */
  readonly severalTracks: OrNot<Script<ExpectedTracks>>;
  /** Where a call that creates is answered with a multipart body. */
  readonly multipart?: MultipartScenario;
}

/** A response in parts. The suite sends it with CRLF and LF, the boundary in the header or in the body alone. */
export interface MultipartScenario {
  /** The call that is answered so. */
  readonly route: Route;
  /** Teaches the fake what comes before that call, and returns what the response holds in addition to HTTP headers. */
  response(
    fake: FakeApi,
    mix: Uint8Array,
  ): { readonly parts: readonly MultipartPart[]; readonly tracks?: ExpectedTracks["tracks"] };
}

/**
 * Work that is accepted first and polled. All but `accepts` say what the status call answers; the work was accepted
 * before.
 */
export interface WorkScenarios {
  /** The status call: of `poll`, or of `pollMany`. */
  readonly status: Route;
  /** `submit` answers `accepted`. Every call of it creates new work. */
  readonly accepts: Script;
  readonly running: Script;
  readonly succeeds: Script<ExpectedTracks | ExpectedStems>;
  /** Every way in which it says that the work failed. */
  readonly fails: Script | readonly Script[];
  readonly rejectsContent: OrNot<Script>;
  /** Every spelling of cancelled. */
  readonly cancelled: OrNot<Script | readonly Script[]>;
  /** It ran out of time there. */
  readonly timesOut: OrNot<Script>;
  /** It knows nothing of the work, or not any more. */
  readonly gone: OrNot<Script>;
  /** The work succeeded, and its files are there no more. */
  readonly expiredLink: OrNot<Script>;
  /** It says success and has no file. */
  readonly succeedsEmpty: OrNot<Script>;
  /** Some of several tracks are ready: the work still runs. */
  readonly partlyReady: OrNot<Script>;
  /** Whatever else its table has, by what it says. */
  readonly others?: { readonly [what: string]: NamedFailure };
}

/** A failure of the provider's own table. */
export interface NamedFailure {
  readonly kind: ProviderFailureKind;
  readonly script: Script;
}

/** How `submit` is refused. Nothing was accepted. */
export interface RefusalScenarios {
  readonly content: OrNot<Script>;
  /** Give `retryAfterMs` where it says how long to wait. */
  readonly rateLimit: OrNot<Script | { readonly script: Script; readonly retryAfterMs: number }>;
  readonly key: OrNot<Script>;
  /** Every status and body with which it says that the balance is empty: 402, 403, 429, or 200 with an error. */
  readonly credit: OrNot<Script | readonly Script[]>;
  /** Overload, maintenance. */
  readonly unavailable: OrNot<Script>;
  readonly input: OrNot<Script>;
  /**
   * The model, or the operation, is not there any more. Left out: the call that creates is answered 404 with a JSON
   * object.
   */
  readonly retiredModel?: OrNot<Script>;
  /** HTTP 200 and an error in the body. */
  readonly errorWith200: OrNot<NamedFailure>;
  /** Whatever else its table has, by what it says: the same number with another meaning, … */
  readonly others?: { readonly [what: string]: NamedFailure };
}

/** What the provider would send to the callback URL. */
export interface SentCallback {
  readonly headers?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly body: string | Uint8Array;
}

export type CallbackStage = "running" | "succeeded" | "failed";

export interface CallbackScenarios {
  /** What the fake must answer besides: a key that signatures are checked with, … */
  readonly prepare?: Script;
  /** Stages that it reports; the others it does not. */
  readonly stages: readonly CallbackStage[];
  /** A callback as the provider sends it at that time, of the work with this handle. */
  send(
    stage: CallbackStage,
    work: { readonly handle: ProviderHandle; readonly at: number; readonly fake: FakeApi },
  ): SentCallback | Promise<SentCallback>;
  /** Not applicable: it does not sign, every callback is a hint. */
  readonly signature: OrNot<{
    /** The header that the signature stands in, in lower case. */
    readonly header: string;
    /** True when it covers the raw body. */
    readonly coversBody: boolean;
    /** How old a callback may be, where the time is signed. */
    readonly toleranceMs: OrNot<number>;
  }>;
  /** Why a signed callback cannot be read when the submission's reply was lost. Left out: it can. */
  readonly lostReply?: NotApplicable;
}

export interface LookupScenarios {
  readonly route: Route;
  /** The attempt is there. */
  readonly found: (fake: FakeApi, attemptId: string) => void | Promise<void>;
  readonly absent: Script;
}

export interface CancelScenarios {
  readonly route: Route;
  /** It can be stopped: `cancelled`, or `requested`. */
  readonly cancels: Script;
  readonly tooLate: OrNot<Script>;
}

export interface ProbeScenarios {
  readonly route: Route;
  /** The key works. @returns the credit that is left; null where it does not tell */
  readonly responses: Script<ProviderCost | null>;
  readonly refusesKey: Script;
}

export interface SplitScenarios {
  /** The call that makes billed work; an upload before it is none. Not applicable: a provider without network. */
  readonly submit: OrNot<Route>;
  /** From the submission to the stems. */
  readonly completes: Script<ExpectedStems>;
  /** Members that the track needs in addition: the `reference` of a track of the provider. */
  readonly source?: Partial<SourceAudio>;
  /** Whether what the provider was sent holds the source: the uploaded bytes, the URL, the reference. */
  receivedSource(requests: readonly FakeRequest[], source: SourceAudio): boolean;
}

/** How the options of requests reach the provider. */
export interface OptionScenarios {
  /**
   * The options that the provider was sent, by the names and values of requests, read from the calls of one submission;
   * those that it was not sent are left out, or undefined.
   */
  sent(requests: readonly FakeRequest[], model: ProviderModel): { readonly [name: string]: unknown };
  /** What a request with this option needs besides, where it cannot stand alone: lyrics for `vocal_gender`. */
  requestFor?(name: string, model: ProviderModel): HarnessRequest;
  /** From the submission to the files, for this model; `generation.completes` by default. */
  completes?(fake: FakeApi, model: ProviderModel): void | Promise<void>;
}

/**
 * What the conformance suite needs to know of a plugin. Each scenario teaches the fake what the real API would answer;
 * what cannot exist there is `{ notApplicable: "why" }`. The suite does the rest: lost connections, garbage, aborts,
 * forgeries are its own.
 */
export interface MusicProviderHarness {
  /** The default export of the plugin. */
  readonly definition: ProviderDefinition;
  /** The function that `fermata plugins new` leaves to the author; while it is unwritten it is all that is tested. */
  readonly firstTask?: FirstTask;
  /** Settings that point the plugin at the fake; secrets get a value of their own, at least 8 characters. */
  settings(fake: FakeApi): ProviderHost["settings"];
  /** Models of the operator's; the definition's by default. */
  readonly models?: readonly ProviderModel[];
  /** Members that a generation needs in addition to those for the first model. */
  readonly request?: HarnessRequest;
  /** Needed where a model declares `requestOptions`. Not applicable: a provider without network. */
  readonly options?: OrNot<OptionScenarios>;
  /** How the provider is asked to work from a track: each mode that a model declares (`references`), and no other. */
  readonly references?: ReferenceScenarios;
  readonly generation: OrNot<GenerationScenarios>;
  /** Not applicable: `submit` always answers `completed`. */
  readonly work: OrNot<WorkScenarios>;
  readonly refusals: OrNot<RefusalScenarios>;
  /** Where the key of idempotency stands in a request that creates. Not applicable: it takes none. */
  readonly idempotency: OrNot<{ keyOf(request: FakeRequest): string | undefined }>;
  readonly callbacks: OrNot<CallbackScenarios>;
  readonly lookup: OrNot<LookupScenarios>;
  readonly cancel: OrNot<CancelScenarios>;
  readonly probe: OrNot<ProbeScenarios>;
  readonly stemSplit: OrNot<SplitScenarios>;
  readonly vocalRemoval: OrNot<SplitScenarios>;
}
