import { asObject, handleCodec, ProviderFailure, providerFailure } from "../sdk/index.js";
import type {
  Accepted,
  CallContext,
  LookupOutcome,
  MusicProvider,
  ProbeResult,
  ProviderHandle,
  Snapshot,
  SplitRequest,
  SubmitRequest,
} from "../sdk/index.js";
import { MusicAiClient } from "./client.js";
import { type Job, readJob, snapshotOf } from "./map.js";
import { type Host, type Labels, readLabels, workflowFor } from "./settings.js";

const HANDLES = handleCodec(1, (data) =>
  typeof data["id"] === "string" ? { id: data["id"], operation: operationIn(data) } : null,
);
const PAGE_SIZE = 100;
/** A lookup reads at most this many pages; in a longer list a job may still exist. */
export const LOOKUP_PAGES_MAX = 20;

/** Jobs of a workflow: created with one call after the track was uploaded or linked, then polled. */
export class MusicAiProvider implements MusicProvider {
  private readonly labels: Labels;
  private readonly client: MusicAiClient;

  constructor(private readonly host: Host) {
    this.labels = readLabels(host.settings.labels);
    this.client = new MusicAiClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    if (request.operation === "music")
      throw new ProviderFailure("invalid_input", "Music AI creates no music.", { billable: "no" });
    const { operation, source, jobId, attemptId } = request;
    const workflow = workflowFor(operation, this.host.settings);
    if (workflow === null)
      throw new ProviderFailure("invalid_input", "No workflow is named for it (`stemSplitWorkflow`).", {
        billable: "no",
      });
    const inputUrl = source.url ?? (await this.client.upload(source, signal));
    const json = { name: jobId, workflow, params: { inputUrl }, metadata: { ref: attemptId, operation } };
    const response = await this.client.create(json, signal);
    const { id } = asObject(response.json());
    if (typeof id !== "string" || id === "")
      throw providerFailure("outcome_unknown", response, { message: "The response has no job." });
    return this.accepted(id, operation);
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const { id, operation } = HANDLES.read(handle);
    const response = await this.client.job(id, signal);
    const job = readJob(response.json());
    // A response that says nothing about the work does not end it: it is polled again.
    if (job === null) throw providerFailure("unavailable", response, { message: "The response has no job." });
    const snapshot = snapshotOf(job, operation, this.labels, this.host.settings.pollMs);
    if (ProviderFailure.is(snapshot)) throw snapshot;
    return snapshot;
  }

  async lookup(attemptId: string, { signal }: CallContext): Promise<LookupOutcome> {
    for (let page = 0; page < LOOKUP_PAGES_MAX; page += 1) {
      const jobs = await this.jobs(page, signal);
      // The maximal size of a page is undocumented: only an empty one is surely the last.
      if (jobs.length === 0) return { state: "absent" };
      const found = jobs.find(({ metadata }) => metadata["ref"] === attemptId);
      if (found !== undefined) return this.accepted(found.id, operationIn(found.metadata));
    }
    const message = `It is not among the first ${LOOKUP_PAGES_MAX} pages of jobs: that it is not there is not sure.`;
    throw new ProviderFailure("unavailable", message);
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    await this.client.application(signal);
    return { credit: null, warnings: [] };
  }

  private async jobs(page: number, signal: AbortSignal): Promise<readonly Job[]> {
    const response = await this.client.jobs(page, PAGE_SIZE, signal);
    const list = response.json();
    const jobs = Array.isArray(list) ? list.map(readJob) : [null];
    if (jobs.includes(null))
      throw providerFailure("unavailable", response, { message: "The response has no list of jobs." });
    return jobs.filter((job) => job !== null);
  }

  private accepted(id: string, operation: SplitRequest["operation"]): Accepted {
    return { state: "accepted", handle: HANDLES.write({ id, operation }), nextPollMs: this.host.settings.pollMs };
  }
}

function operationIn({ operation }: { readonly operation?: unknown }): SplitRequest["operation"] {
  return operation === "vocal_removal" ? "vocal_removal" : "stem_split";
}
