import { once } from "node:events";
import {
  type CallContext,
  type MusicProvider,
  type ParsedCallback,
  ProviderFailure,
  type ProviderHandle,
  type ReceivedCallback,
  type SubmitRequest,
} from "../../../plugins/sdk/index.js";
import type { WorkingProvider } from "../../../core/execution/working-provider.js";
import type { CatalogueProvider } from "../../../core/providers/catalogue.js";
import { PROVIDERS, type ProviderId, SPLITTERS } from "./plan.js";
import type { SimProcess } from "./process.js";
import { CALL_LIMIT_MS, SLOW_MS, type Vendor, type Work } from "./vendor.js";

const CAPABILITIES = {
  idem: { idempotentSubmit: true, lookup: false, cancel: false },
  look: { idempotentSubmit: false, lookup: true, lookupSettlesMs: SLOW_MS, cancel: true, callbacks: "hints" },
  sign: { idempotentSubmit: false, lookup: false, cancel: false, callbacks: "signed" },
  sync: { idempotentSubmit: true, lookup: false, cancel: false },
} as const;

const COST = 10;

/** The model of a provider. */
export function modelOf(provider: ProviderId): string {
  return `${provider}/song`;
}

function capabilitiesOf(id: ProviderId, overrides: Overrides): WorkingProvider["capabilities"] {
  const stemSplit = SPLITTERS.includes(id) ? { stemSplit: { sources: "any" as const } } : {};
  return { ...CAPABILITIES[id], ...stemSplit, ...overrides[id] };
}

/** Capabilities that a provider claims to have, for a test of the simulation itself. */
export type Overrides = Partial<Record<ProviderId, Partial<WorkingProvider["capabilities"]>>>;

/** The providers as the core's options list them. */
export function catalogueOf(overrides: Overrides = {}): readonly CatalogueProvider[] {
  const form = { creditCost: COST, supportsLyrics: false, supportsInstrumental: true, duration: null };
  return PROVIDERS.map((id) => ({
    ...capabilitiesOf(id, overrides),
    id,
    label: id,
    enabled: true,
    isReachable: true,
    models: [{ ...form, id: modelOf(id), name: id }],
  }));
}

/** The providers as one process works for them. */
export function workingProviders(process: SimProcess, vendor: Vendor, overrides: Overrides = {}): WorkingProvider[] {
  return PROVIDERS.map((id) => {
    const provider = new SimProvider(id, process, vendor);
    return {
      id,
      label: id,
      concurrency: 4,
      maxInFlight: null,
      capabilities: capabilitiesOf(id, overrides),
      callLimitMs: CALL_LIMIT_MS,
      provider,
      poll: provider.poll.bind(provider),
    };
  });
}

/** The plugin of one provider in one process. A request that was sent arrives, whatever becomes of the process. */
class SimProvider implements MusicProvider {
  constructor(
    private readonly id: ProviderId,
    private readonly process: SimProcess,
    private readonly vendor: Vendor,
  ) {}

  async submit(request: SubmitRequest, { signal }: CallContext): ReturnType<MusicProvider["submit"]> {
    const { reply } = await this.process.send("submit", signal, () => this.send(request));
    const work = await (this.vendor.isDeaf(request) ? reply : Promise.race([reply, aborted(signal)]));
    await this.process.step("submit: reply");
    return this.id === "sync"
      ? this.vendor.resultOf(work)
      : { state: "accepted", handle: handleOf(work), nextPollMs: 1_000 };
  }

  poll(handle: ProviderHandle): ReturnType<NonNullable<MusicProvider["poll"]>> {
    return this.process.call("poll", () => this.vendor.snapshot(this.vendor.find(handle.data["work"])));
  }

  lookup(attemptId: string): ReturnType<NonNullable<MusicProvider["lookup"]>> {
    return this.process.call("lookup", () => {
      const work = this.vendor.works.find((one) => one.attemptId === attemptId);
      return work === undefined
        ? ({ state: "absent" } as const)
        : ({ state: "accepted", handle: handleOf(work), nextPollMs: 1_000 } as const);
    });
  }

  cancel(handle: ProviderHandle): ReturnType<NonNullable<MusicProvider["cancel"]>> {
    return this.process.call("cancel", () => this.vendor.cancel(this.vendor.find(handle.data["work"])));
  }

  private send(request: SubmitRequest): { readonly reply: Promise<Work> } {
    const reply = this.vendor.submit(this.id, request);
    // No caller hears of it once the process is dead.
    reply.catch(() => undefined);
    return { reply };
  }

  async parseCallback({ body }: ReceivedCallback): Promise<ParsedCallback> {
    if (this.id !== "sign") return { trust: "hint" };
    const work = this.vendor.find(new TextDecoder().decode(body));
    const handle = handleOf(work);
    if (work.script.render === "fails")
      return { trust: "verified", snapshot: new ProviderFailure("failed", "scripted", { providerCode: "scripted" }) };
    return { trust: "verified", snapshot: { ...this.vendor.resultOf(work), handle } };
  }
}

function handleOf(work: Work): ProviderHandle {
  return { version: 1, data: { work: work.id } };
}

async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort");
  throw new ProviderFailure("outcome_unknown", "the call was aborted");
}
