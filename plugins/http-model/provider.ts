import { handleCodec, type ProviderApi, ProviderFailure, providerFailure } from "../sdk/index.js";
import type {
  Accepted,
  CallContext,
  CancelOutcome,
  Completed,
  MusicProvider,
  ProviderHandle,
  Snapshot,
  SubmitRequest,
} from "../sdk/index.js";
import { read, refusalOf } from "./responses.js";
import { type Mapping, readMapping } from "./mapping.js";
import type { Host } from "./settings.js";
import { filled, filledPath, nameOf, valuesOf } from "./template.js";

const HANDLES = handleCodec(1, ({ id }) => (typeof id === "string" ? { id } : null));

/** A model server of the operator's own, by its mapping. */
export class HttpModelProvider implements MusicProvider {
  /** Only where the server has a path for it. */
  readonly cancel?: NonNullable<MusicProvider["cancel"]>;
  private readonly mapping: Mapping;
  private readonly api: ProviderApi;

  constructor({ settings, models, api }: Host) {
    const mapping = readMapping(settings, models);
    const { baseUrl, headers, timeoutMs, cancelPath } = mapping;
    this.mapping = mapping;
    this.api = api({ baseUrl, headers, timeoutMs, classify: (response) => refusalOf(response, mapping) });
    if (cancelPath !== null)
      this.cancel = (handle, context) => this.stop(filledPath(cancelPath, HANDLES.read(handle)), context);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed | Accepted> {
    if (request.operation !== "music")
      throw new ProviderFailure("invalid_input", "Model servers create music; they split no tracks.", {
        billable: "no",
      });
    const { mapping } = this;
    const values = valuesOf(mapping.callbacks ? request : { ...request, callbackUrl: null });
    const response = await this.api.call({
      path: filledPath(mapping.submitPath, { model: nameOf(request.model) }),
      json: filled(mapping.request, values),
      headers: { accept: "application/json, audio/*", "idempotency-key": request.jobId },
      creates: true,
      signal,
    });
    const reading = read(response, mapping);
    if (reading.says === "completed") return reading.completed;
    if (reading.says === "failure") throw reading.failure;
    if (reading.says === "running" && reading.id !== null) {
      return { state: "accepted", handle: HANDLES.write({ id: reading.id }), nextPollMs: mapping.pollMs };
    }
    // A successful status without work in the response: the work may run nevertheless.
    const message = reading.says === "nothing" ? reading.why : "The work runs, and there is no id to ask with.";
    throw providerFailure("outcome_unknown", response, { message });
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const { mapping } = this;
    const response = await this.api.call({
      path: filledPath(mapping.statusPath, HANDLES.read(handle)),
      headers: { accept: "application/json, audio/*" },
      isStatusCall: true,
      signal,
    });
    const reading = read(response, mapping);
    if (reading.says === "completed") return reading.completed;
    if (reading.says === "failure") throw reading.failure;
    // A response without a status does not say that the work failed.
    if (reading.says === "nothing") throw providerFailure("unavailable", response, { message: reading.why });
    return { state: "running", nextPollMs: mapping.pollMs };
  }

  private async stop(path: string, { signal }: CallContext): Promise<CancelOutcome> {
    try {
      await this.api.call({ method: "POST", path, signal });
      return "requested";
    } catch (error) {
      // 404, 409, 410: the work can no longer be stopped.
      if (ProviderFailure.is(error) && (error.kind === "gone" || error.kind === "invalid_input")) return "too_late";
      throw error;
    }
  }
}
