import {
  type LookupOutcome,
  type MusicProvider,
  type MusicRequest,
  ProviderFailure,
  type ProviderHandle,
  type ProviderHost,
  type ProviderModel,
  type Snapshot,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/comfyui/index.js";
import { aMusicRequest, FakeApi, providerHost, settingsOf } from "../support/provider-kit/index.js";
import { accepts, API_KEY } from "./comfyui-server.js";

const { signal } = new AbortController();

/** The plugin in front of a server of 2026 that takes every prompt. */
export class ComfyUiBench {
  provider!: MusicProvider;

  private constructor(readonly fake: FakeApi) {
    this.start();
  }

  static async open(): Promise<ComfyUiBench> {
    const fake = await FakeApi.open();
    await accepts(fake);
    return new ComfyUiBench(fake);
  }

  close(): Promise<void> {
    return this.fake.close();
  }

  /** Starts the plugin again. */
  start(settings: ProviderHost["settings"] = {}, models = definition.models): void {
    const given = settingsOf(definition, { apiKey: API_KEY, baseUrl: this.fake.url, ...settings });
    this.provider = definition.create(providerHost({ settings: given, models }));
  }

  submit(request: Parameters<MusicProvider["submit"]>[0]): ReturnType<MusicProvider["submit"]> {
    return this.provider.submit(request, { signal });
  }

  async accepted(of = aModel(), parts: Partial<MusicRequest> = {}): Promise<ProviderHandle> {
    const outcome = await this.submit(aMusicRequest(of, parts));
    if (outcome.state !== "accepted") throw new Error("The work was to be accepted.");
    return outcome.handle;
  }

  poll(handle: ProviderHandle): Promise<Snapshot> {
    return called(this.provider.poll?.(handle, { signal }));
  }

  lookup(attemptId: string): Promise<LookupOutcome> {
    return called(this.provider.lookup?.(attemptId, { signal }));
  }

  cancel(handle: ProviderHandle): Promise<string> {
    return called<string>(this.provider.cancel?.(handle, { signal }));
  }

  probe(): ReturnType<NonNullable<MusicProvider["probe"]>> {
    return called(this.provider.probe?.({ signal }));
  }
}

function called<T>(promise: Promise<T> | undefined): Promise<T> {
  return promise ?? Promise.reject(new Error("there is no such method"));
}

/** The first model of the plugin, otherwise. */
export function aModel(parts: Partial<ProviderModel> = {}): ProviderModel {
  const [first] = definition.models;
  if (first === undefined) throw new Error("there is no model");
  return { ...first, ...parts };
}

export async function failureOf(promise: Promise<unknown>): Promise<ProviderFailure> {
  try {
    throw new Error(`Expected a failure, and got ${JSON.stringify(await promise)}`);
  } catch (error) {
    if (!ProviderFailure.is(error)) throw error;
    return error;
  }
}
