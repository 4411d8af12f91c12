import { handleCodec, ProviderFailure } from "../sdk/index.js";
import type {
  Accepted,
  CallContext,
  MusicProvider,
  ProbeResult,
  ProviderHandle,
  Snapshot,
  SubmitRequest,
} from "../sdk/index.js";
import { SonautoClient } from "./client.js";
import { extensionOf } from "./extend.js";
import { bodyOf, completedOf, failureOf } from "./map.js";
import { CREDITS_PER_SONG } from "./models.js";
import type { Host } from "./settings.js";

const HANDLES = handleCodec(1, ({ taskId }) => (typeof taskId === "string" ? { taskId } : null));
const FIRST_POLL_MS = 20_000;

/** Songs as tasks: each is started with one call, then polled. */
export class SonautoProvider implements MusicProvider {
  private readonly client: SonautoClient;

  constructor(private readonly host: Host) {
    this.client = new SonautoClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    if (request.operation !== "music")
      throw new ProviderFailure("invalid_input", "Sonauto splits no tracks.", { billable: "no" });
    const { model, reference } = request;
    const { upstream = "v3" } = model;
    const { outputFormat } = this.host.settings;
    const taskId =
      reference === undefined
        ? await this.client.generate(upstream, bodyOf(request, outputFormat), signal)
        : await this.client.extend(upstream, await extensionOf(request, reference, outputFormat), signal);
    return { state: "accepted", handle: HANDLES.write({ taskId }), nextPollMs: FIRST_POLL_MS };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const { taskId } = HANDLES.read(handle);
    const status = await this.client.status(taskId, signal);
    // Steps of the work have statuses of their own, and new ones appear: any other status means running.
    if (status !== "SUCCESS" && status !== "FAILURE")
      return { state: "running", nextPollMs: this.host.settings.pollMs };
    const generation = await this.client.generation(taskId, signal);
    if (status === "FAILURE") throw failureOf(generation);
    return completedOf(generation);
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    const amount = await this.client.credits(signal);
    const warnings = amount < CREDITS_PER_SONG ? [`${amount} credits are left; a song costs ${CREDITS_PER_SONG}.`] : [];
    return { credit: { amount, unit: "credits" }, warnings };
  }
}
