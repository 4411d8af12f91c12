import { bearer, fileEndingOf, handleCodec, httpUrl, ProviderFailure } from "../sdk/index.js";
import type {
  Accepted,
  CallContext,
  CancelOutcome,
  LookupOutcome,
  MusicProvider,
  MusicRequest,
  ProbeResult,
  ProviderHandle,
  Snapshot,
  SplitRequest,
  SubmitRequest,
} from "../sdk/index.js";
import { ComfyUiClient } from "./client.js";
import {
  completedOf,
  extraDataOf,
  promptIdOf,
  seedOf,
  type SourceOf,
  sourcesOf,
  type Wanted,
  wantedIn,
  wantedOf,
} from "./map.js";
import { installationWarnings } from "./installation.js";
import { optionsOf, valuesOf } from "./options.js";
import type { Host } from "./settings.js";
import { type Stems, stemsIn, vocalsOf } from "./stems.js";
import { filled, type Workflow } from "./workflow.js";

interface Work {
  readonly promptId: string;
  /** null after a lost reply: the job itself has it. */
  readonly wanted: Wanted | null;
}

const handles = handleCodec<Work>(1, ({ promptId, wanted }) =>
  typeof promptId === "string" ? { promptId, wanted: wantedIn(wanted) } : null,
);

/** Workflows in the queue of one server, each under an id that is derived from its attempt. */
export class ComfyUiProvider implements MusicProvider {
  private readonly client: ComfyUiClient;
  private readonly stems: Stems | null;
  private readonly sourceOf: SourceOf;

  constructor(private readonly host: Host) {
    const { baseUrl, apiKey } = host.settings;
    this.client = new ComfyUiClient(host);
    this.stems = stemsIn(host.settings);
    this.sourceOf = sourcesOf(httpUrl("baseUrl", baseUrl), apiKey === undefined ? {} : bearer(apiKey));
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    const { attemptId } = request;
    const isMusic = request.operation === "music";
    const { workflow, wanted } = isMusic ? generationOf(request) : await this.splitOf(request, signal);
    const extraData = extraDataOf(wanted, attemptId);
    const promptId = await this.client.prompt(promptIdOf(attemptId), workflow, extraData, signal);
    return this.accepted({ promptId, wanted });
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const { promptId, wanted } = handles.read(handle);
    const job = await this.client.find(promptId, signal);
    if (job === null) throw new ProviderFailure("gone", "The server does not know the job, or no longer.");
    if (job.state === "ended") throw job.failure;
    if (job.state !== "completed") return { state: "running", nextPollMs: this.host.settings.pollMs };
    const completed = completedOf(job.outputs, wanted ?? wantedOf(job.extraData), this.sourceOf);
    if (ProviderFailure.is(completed)) throw completed;
    return completed;
  }

  async lookup(attemptId: string, { signal }: CallContext): Promise<LookupOutcome> {
    const promptId = promptIdOf(attemptId);
    const job = await this.client.find(promptId, signal);
    return job === null ? { state: "absent" } : this.accepted({ promptId, wanted: null });
  }

  async cancel(handle: ProviderHandle, { signal }: CallContext): Promise<CancelOutcome> {
    return this.client.cancel(handles.read(handle).promptId, signal);
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    const { system } = await this.client.systemStats(signal);
    if (system === undefined)
      throw new ProviderFailure("misconfigured", "The server is no ComfyUI: /system_stats has no system.");
    const info = await this.client.objectInfo(signal);
    return { credit: null, warnings: installationWarnings(info, this.host.models, this.stems) };
  }

  private accepted(work: Work): Accepted {
    return { state: "accepted", handle: handles.write(work), nextPollMs: this.host.settings.pollMs };
  }

  private async splitOf(request: SplitRequest, signal: AbortSignal): Promise<{ workflow: Workflow; wanted: Wanted }> {
    const { operation, source, jobId, attemptId } = request;
    const nodes = this.stems === null ? null : operation === "stem_split" ? this.stems.outputs : vocalsOf(this.stems);
    if (this.stems === null || nodes === null) {
      const message = "No workflow is configured for this split (settings stemWorkflow, stemOutputs).";
      throw new ProviderFailure("invalid_input", message, { billable: "no" });
    }
    const filename = `fermata-${attemptId}.${fileEndingOf(source.contentType)}`;
    const uploaded = await this.client.upload(source, filename, signal);
    const values = { source: uploaded, seed: seedOf(attemptId), job_id: jobId, attempt_id: attemptId };
    return { workflow: filled(this.stems.workflow, values), wanted: { operation: "stems", nodes } };
  }
}

function generationOf(request: MusicRequest): { readonly workflow: Workflow; readonly wanted: Wanted } {
  const { workflow, output, master } = optionsOf(request.model);
  const nodes = { mix: output, ...(master === undefined ? {} : { master }) };
  const values = valuesOf(request, seedOf(request.attemptId));
  return { workflow: filled(workflow, values), wanted: { operation: "music", nodes } };
}
