import { handleCodec, ProviderFailure } from "../sdk/index.js";
import type { Accepted, CallContext, MusicProvider, ProviderHandle, Snapshot, SubmitRequest } from "../sdk/index.js";
import { Client } from "./client.js";
import { toBody, toSnapshot } from "./map.js";
import type { Host } from "./settings.js";

/** The data that `poll` needs later, also in another process. Never the key. */
const HANDLES = handleCodec(1, ({ id }) => (typeof id === "string" ? { id } : null));

/** Starts each task with one call, then polls it. */
export class TemplateProvider implements MusicProvider {
  private readonly client: Client;
  private readonly nextPollMs: number;

  constructor(host: Host) {
    this.client = new Client(host);
    this.nextPollMs = host.settings.pollMs;
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    if (request.operation !== "music")
      throw new ProviderFailure("invalid_input", "This plugin creates music and splits no tracks.", { billable: "no" });
    const id = await this.client.create(toBody(request), signal);
    return { state: "accepted", handle: HANDLES.write({ id }), nextPollMs: this.nextPollMs };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const { id } = HANDLES.read(handle);
    return toSnapshot(await this.client.task(id, signal), this.nextPollMs);
  }
}
