import { asObject, bearer, foreignHandle, handleCodec, httpUrl, ProviderFailure } from "../sdk/index.js";
import type {
  Accepted,
  CallContext,
  JsonObject,
  MusicProvider,
  ProbeResult,
  ProviderHandle,
  Snapshot,
  SubmitRequest,
  UrlSource,
} from "../sdk/index.js";
import { AceStepClient } from "./client.js";
import { LostTasks } from "./lost-tasks.js";
import { readTask, sourcesOf, type TaskState, taskOf } from "./map.js";
import { optionsOf } from "./options.js";
import { formOf } from "./references.js";
import type { Host } from "./settings.js";

const FIRST_POLL_MS = 3_000;

/** The `service` in `/health` of the task API. The server of the web page has the same paths and other behaviour. */
const SERVICE = "ACE-Step API";

interface Work {
  readonly taskId: string;
  /** The requested one: the server silently runs its primary model in place of one that is not loaded. */
  readonly model: string;
}

const handles = handleCodec<Work>(1, ({ taskId, model }) =>
  typeof taskId === "string" && typeof model === "string" ? { taskId, model } : null,
);

/** Tasks in the queue of one server, polled together. */
export class AceStepProvider implements MusicProvider {
  private readonly client: AceStepClient;
  private readonly lost = new LostTasks();
  private readonly sourceOf: (file: string) => UrlSource | null;

  constructor(private readonly host: Host) {
    const { baseUrl, apiKey } = host.settings;
    this.client = new AceStepClient(host);
    this.sourceOf = sourcesOf(httpUrl("baseUrl", baseUrl), apiKey === undefined ? {} : bearer(apiKey));
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    if (request.operation !== "music") {
      const message = "ACE-Step generates stems again; it does not separate a track.";
      throw new ProviderFailure("invalid_input", message, { billable: "no" });
    }
    const task = taskOf(request, this.host.settings.audioFormat);
    const { reference } = request;
    const body = reference === undefined ? { json: task } : { body: await formOf(task, reference) };
    const taskId = await this.client.release(body, signal);
    const handle = handles.write({ taskId, model: request.model.upstream ?? "" });
    return { state: "accepted", handle, nextPollMs: FIRST_POLL_MS };
  }

  async pollMany(
    stored: readonly ProviderHandle[],
    { signal }: CallContext,
  ): Promise<readonly (Snapshot | ProviderFailure)[]> {
    const works = stored.map(handles.parse);
    const ids = works.flatMap((work) => work?.taskId ?? []);
    if (ids.length === 0) return works.map(foreignHandle);
    const tasks = await this.client.query(ids, signal);
    const states = new Map(ids.map((id) => [id, readTask(tasks.get(id), this.sourceOf)]));
    const lost = await this.lostOf(states, signal);
    return works.map((work) => {
      const state = work === null ? undefined : states.get(work.taskId);
      if (work === null || state === undefined) return foreignHandle();
      this.warnOfOtherModel(work, state);
      return lost.has(work.taskId) ? lostFailure() : state.snapshot;
    });
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    const health = await this.client.health(signal);
    if (health["service"] !== SERVICE) {
      const service = JSON.stringify(health["service"]) ?? "nothing";
      const message = `The server calls itself ${service}, not "${SERVICE}": start acestep-api.`;
      throw new ProviderFailure("misconfigured", message);
    }
    const inventory = await this.client.inventory(signal);
    return { credit: null, warnings: this.warningsOf(health, inventory) };
  }

  /** A restart of the server ends running tasks, which it reports as running for another hour. */
  private async lostOf(states: ReadonlyMap<string, TaskState>, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const now = this.host.clock.now();
    const still = [...states].flatMap(([id, state]) => (this.lost.isStalled(id, state.progress, now) ? [id] : []));
    this.lost.forgetOld(now);
    if (still.length === 0) return new Set();
    try {
      const { isIdle } = await this.client.stats(signal);
      return new Set(still.filter((id) => this.lost.isLost(id, isIdle, now)));
    } catch (error) {
      // Without the load they count as running.
      if (!ProviderFailure.is(error)) throw error;
      return new Set();
    }
  }

  private warnOfOtherModel({ taskId, model }: Work, { models }: TaskState): void {
    const used = models.find((one) => one !== model);
    if (used === undefined) return;
    const message = "The server created a track with another model than the requested one";
    this.host.logger.warn(message, { taskId, requested: model, used });
  }

  private warningsOf(health: JsonObject, inventory: JsonObject | null): string[] {
    const { models_initialized: isLoaded, llm_initialized: hasPlanner } = health;
    const warnings: string[] = [];
    if (isLoaded === false) {
      warnings.push(
        "No model is loaded yet: the first job loads it, and the server may not respond meanwhile. " +
          "Start it with ACESTEP_NO_INIT=false.",
      );
    }
    const listed = (Array.isArray(inventory?.["models"]) ? inventory["models"] : []).map(asObject);
    const loaded = listed.filter(({ is_loaded: is }) => is === true).map(({ name }) => name);
    for (const model of this.host.models) {
      if (isLoaded === true && hasPlanner === false && optionsOf(model).thinking === true)
        warnings.push(`${model.id}: options.thinking needs the planner, which is not loaded: its jobs fail.`);
      if (loaded.length > 0 && !loaded.includes(model.upstream))
        warnings.push(`${model.id}: ${String(model.upstream)} is not loaded; the server runs its primary model.`);
    }
    return warnings;
  }
}

function lostFailure(): ProviderFailure {
  return new ProviderFailure("gone", "The task makes no progress and the server is idle: it was restarted.");
}
