import {
  type MusicReference,
  type MusicRequest,
  type ProviderFailure,
  type ProviderModel,
  type ProviderReference,
  REFERENCE_MODES,
  type ReferenceCapability,
  type ReferenceMode,
  type SourceAudio,
} from "../../../core/ports/music-provider.js";
import type { FakeRequest } from "../../support/provider-kit/request.js";
import { aMusicRequest, aSource } from "../../support/provider-kit/requests.js";
import { tinyMp3, tinyWav } from "../../support/provider-kit/sounds.js";
import { isApplicable, type MusicProviderHarness } from "./harness.js";
import type { GivenTrack, ReferenceScenario, SentPoints } from "./reference-scenarios.js";
import { modelsOf, type ProviderUnderTest } from "./tested.js";

/** Of the track, unless the mode takes only shorter ones or the scenario has another. */
const SOURCE_SECONDS = 20;
/** Where `inpaint` begins and ends, in seconds: it always has both. */
const PART = { fromSeconds: 4, toSeconds: 9 } as const;

type RequestParts = Partial<Omit<MusicReference, "source">> & {
  readonly source?: Partial<SourceAudio>;
  readonly callbackUrl?: string;
};

/** One mode of one model, and requests in it. */
export class ModeUnderTest {
  private constructor(
    readonly mode: ReferenceMode,
    readonly scenario: ReferenceScenario,
    readonly capability: ReferenceCapability,
    private readonly model: ProviderModel,
    private readonly harness: MusicProviderHarness,
  ) {}

  static allOf(harness: MusicProviderHarness): ModeUnderTest[] {
    return REFERENCE_MODES.flatMap((mode) => {
      const scenario = harness.references?.[mode];
      const declaring = modelsOf(harness).filter((model) => model.references?.[mode] !== undefined);
      const model = declaring.find(({ id }) => id === (scenario?.model ?? declaring[0]?.id));
      const capability = model?.references?.[mode];
      if (scenario === undefined || model === undefined || capability === undefined) return [];
      return [new ModeUnderTest(mode, scenario, capability, model, harness)];
    });
  }

  /** What `SourceAudio.reference` may hold: only of `own` tracks is it always there. */
  get references(): readonly (ProviderReference | null)[] {
    const { own } = this.scenario;
    const ownOnly = own === undefined ? [] : [own];
    return this.capability.sources === "own" ? ownOnly : [null, ...ownOnly];
  }

  /** Length of the track. */
  get seconds(): number {
    const { maxSeconds = SOURCE_SECONDS } = this.capability;
    return this.scenario.source?.durationSeconds ?? Math.min(SOURCE_SECONDS, maxSeconds);
  }

  /** The track to work from, own or not. */
  track({ fake }: ProviderUnderTest, reference = this.references[0] ?? null): GivenTrack & { readonly isMp3: boolean } {
    const { contentTypes, needsUrl } = this.capability;
    const isMp3 = contentTypes?.includes("audio/mpeg") ?? true;
    const bytes = isMp3 ? tinyMp3("to be worked from", this.seconds) : tinyWav(330, this.seconds);
    const served = (): string => fake.file(bytes, isMp3 ? "audio/mpeg" : "audio/wav", isMp3 ? "a.mp3" : "a.wav");
    return { bytes, url: needsUrl === true ? served() : null, reference, isMp3 };
  }

  /** A generation from it; without points `extend` goes on from the end, and `inpaint` has a part in the middle. */
  request(
    tested: ProviderUnderTest,
    { source = {}, callbackUrl, ...use }: RequestParts = {},
    { bytes, isMp3, url, reference } = this.track(tested),
  ): MusicRequest & { readonly reference: MusicReference } {
    const contentType = isMp3 ? "audio/mpeg" : "audio/wav";
    const ordinary = { contentType, durationSeconds: this.seconds, url, reference } as const;
    const given = aSource({ ...ordinary, ...this.scenario.source, ...source }, bytes);
    const points = this.mode === "inpaint" ? PART : { fromSeconds: null, toSeconds: null };
    const besides = this.scenario.request ?? this.harness.request;
    return {
      ...aMusicRequest(this.model, { ...besides, ...(callbackUrl === undefined ? {} : { callbackUrl }) }),
      reference: { mode: this.mode, source: given, ...points, strength: null, ...use },
    };
  }

  /** Submits it, and gives back what was sent meanwhile; a failure too, if there was one. */
  async sentFor(
    tested: ProviderUnderTest,
    request: MusicRequest,
  ): Promise<{ readonly requests: readonly FakeRequest[]; readonly failure: ProviderFailure | null }> {
    await this.scenario.completes(tested.fake);
    const before = tested.fake.requests.length;
    const failure = await tested.submit(request).then(
      () => null,
      (error: unknown) => tested.failureIn(error),
    );
    return { requests: tested.fake.requests.slice(before), failure };
  }

  /** How often work was created in this mode; null without network. */
  created({ fake }: ProviderUnderTest): number | null {
    return isApplicable(this.scenario.submit) ? fake.calls(this.scenario.submit).length : null;
  }

  /** Points and strength that were sent, by the harness; `{}` where there are none. */
  pointsIn(requests: readonly FakeRequest[]): SentPoints {
    const all = Object.entries(this.scenario.sent?.(requests) ?? {});
    return Object.fromEntries(all.filter(([, value]) => value !== undefined));
  }
}
