import { existsSync } from "node:fs";
import {
  type Accepted,
  type CallContext,
  type CancelOutcome,
  type Completed,
  type LookupOutcome,
  type ParsedCallback,
  type MusicProvider,
  type ProviderAsset,
  type ProviderDefinition,
  type ProviderHandle,
  type Running,
  type SubmitRequest,
} from "../../../plugins/sdk/index.js";
import { toProviderHost } from "../../../plugins/sdk/host.js";
import { COMPLETED, RecordingProvider, accepted, recordingProvider } from "../plugins/recording/provider.js";

export const PROVIDER_ID = "recording-crash";

/** With a file of this name next to the recording the provider finds no submission again whose response it sent. */
export const FORGOTTEN = ".forgotten";

/** Longer than a run: only a cancellation ends it sooner. */
const LONG_MS = 20_000;

const ANY = { sources: "any" } as const;

/** A recording provider that splits too, and whose work of the model `late` goes on until it is cancelled. */
class CrashProvider extends RecordingProvider {
  override async submit(request: SubmitRequest, context: CallContext): Promise<Completed | Accepted> {
    if (request.operation === "music" && request.model.id === `${PROVIDER_ID}/late`) {
      this.note(request, request.model.id);
      return accepted(request.model.id, this.host.clock.now() + LONG_MS);
    }
    const result = await super.submit(request, context);
    return request.operation === "music" ? result : SPLIT;
  }

  override async poll(handle: ProviderHandle): Promise<Running | Completed> {
    const result = await super.poll(handle);
    return result.state === "completed" && handle.data["modelId"] === "stem_split" ? SPLIT : result;
  }

  override async lookup(attemptId: string): Promise<LookupOutcome> {
    const outcome = await super.lookup(attemptId);
    const isFound = outcome.state === "accepted" && outcome.handle.data["modelId"] !== `${PROVIDER_ID}/losing`;
    const isForgotten = existsSync(`${String(this.host.settings["file"])}${FORGOTTEN}`);
    return isFound && isForgotten ? { state: "absent" } : outcome;
  }

  async cancel(): Promise<CancelOutcome> {
    return "cancelled";
  }

  async parseCallback(): Promise<ParsedCallback> {
    return { trust: "hint" };
  }
}

function stem(label: string): ProviderAsset {
  const [mix] = COMPLETED.tracks[0]?.assets ?? [];
  if (mix === undefined) throw new Error("A completed song has a file.");
  return { ...mix, role: "stem", label };
}

const SPLIT: Completed = { state: "completed", tracks: [], stems: [stem("vocals"), stem("instrumental")] };

const base = recordingProvider(PROVIDER_ID, {
  lookup: true,
  cancel: true,
  callbacks: "hints",
  stemSplit: ANY,
});

/** @param around put on the provider of this process */
export function crashProvider(around: (provider: MusicProvider) => MusicProvider): ProviderDefinition {
  return { ...base, create: (host) => around(new CrashProvider(PROVIDER_ID, toProviderHost(host))) };
}
