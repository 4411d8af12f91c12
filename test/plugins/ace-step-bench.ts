import {
  type Completed,
  type MusicProvider,
  type MusicRequest,
  ProviderFailure,
  type ProviderHandle,
  type ProviderHost,
  type ProviderModel,
  type Snapshot,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/ace-step/index.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { aMusicRequest, FakeApi, type HostUnderTest, providerHost, settingsOf } from "../support/provider-kit/index.js";
import { accepts, API_KEY } from "./ace-step-support.js";

const { signal } = new AbortController();

/** The plugin in front of a server that takes every task, on a clock that a test moves. */
export class AceStepBench {
  readonly clock = new ManualClock();
  host!: HostUnderTest;
  provider!: MusicProvider;

  private constructor(readonly fake: FakeApi) {
    this.start();
  }

  static async open(): Promise<AceStepBench> {
    const fake = await FakeApi.open();
    await accepts(fake);
    return new AceStepBench(fake);
  }

  close(): Promise<void> {
    return this.fake.close();
  }

  /** Starts the plugin again. */
  start(settings: ProviderHost["settings"] = {}, models = definition.models): void {
    const given = settingsOf(definition, { apiKey: API_KEY, baseUrl: this.fake.url, ...settings });
    this.host = providerHost({ settings: given, models, clock: this.clock });
    this.provider = definition.create(this.host);
  }

  submit(of = aModel(), parts: Partial<MusicRequest> = {}): ReturnType<MusicProvider["submit"]> {
    return this.provider.submit(aMusicRequest(of, parts), { signal });
  }

  async accepted(of?: ProviderModel, parts?: Partial<MusicRequest>): Promise<ProviderHandle> {
    const outcome = await this.submit(of, parts);
    if (outcome.state !== "accepted") throw new Error("The work was to be accepted.");
    return outcome.handle;
  }

  async pollMany(...handles: readonly ProviderHandle[]): Promise<readonly (Snapshot | ProviderFailure)[]> {
    return (await this.provider.pollMany?.(handles, { signal })) ?? [];
  }

  async poll(handle: ProviderHandle): Promise<Snapshot | ProviderFailure | undefined> {
    return (await this.pollMany(handle))[0];
  }

  async tracks(handle: ProviderHandle): Promise<Completed["tracks"]> {
    const snapshot = await this.poll(handle);
    if (snapshot === undefined || ProviderFailure.is(snapshot) || snapshot.state !== "completed")
      throw new Error(`The work was to be completed; it is ${kindOf(snapshot)}.`);
    return snapshot.tracks;
  }

  probe(): ReturnType<NonNullable<MusicProvider["probe"]>> {
    return this.provider.probe?.({ signal }) ?? Promise.reject(new Error("there is no probe"));
  }
}

/** The first model of the plugin, otherwise. */
export function aModel(parts: Partial<ProviderModel> = {}): ProviderModel {
  const [first] = definition.models;
  if (first === undefined) throw new Error("there is no model");
  return { ...first, ...parts };
}

export function kindOf(snapshot: Snapshot | ProviderFailure | undefined): string | undefined {
  return ProviderFailure.is(snapshot) ? snapshot.kind : snapshot?.state;
}

export async function failureOf(promise: Promise<unknown>): Promise<ProviderFailure> {
  try {
    throw new Error(`Expected a failure, and got ${JSON.stringify(await promise)}`);
  } catch (error) {
    if (!ProviderFailure.is(error)) throw error;
    return error;
  }
}
