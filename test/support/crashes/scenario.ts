import { setTimeout as sleep } from "node:timers/promises";
import { dataOf } from "../api-client.js";
import { aChord, wavFile } from "../audio-files.js";
import { FORM_TYPE, formOf } from "../audio-form.js";
import type { PatientClient } from "./client.js";
import { PROVIDER_ID } from "./provider.js";

/** A job that a client has asked for, under a key. */
export interface AskedJob {
  readonly key: string;
  readonly id: string;
  /** What becomes of it; null: a cancellation decides. */
  readonly expected: "completed" | "failed" | null;
  /** The end that the client saw. */
  end: string;
}

/** What the client saw. */
export interface History {
  readonly jobs: AskedJob[];
  /** What differed between two answers that have to be the same. */
  readonly differences: string[];
}

const JSON_TYPE = { "Content-Type": "application/json" };
const ENDS: readonly string[] = ["completed", "failed"];
const TINY = { sampleRate: 8_000, channelCount: 1 };

/** What the first job is asked for with, also as its model: its account had a job of this key long ago. */
export const FIRST_KEY = "direct";

/** The fixed requests of a run, each repeated until it is answered. */
export class Scenario {
  readonly history: History = { jobs: [], differences: [] };

  constructor(
    private readonly client: PatientClient,
    private readonly webhookUrl: string,
  ) {}

  async run(): Promise<void> {
    const { client } = this;
    await client.send("POST", "/api/v1/webhook-endpoints", { headers: JSON_TYPE, body: { url: this.webhookUrl } });
    const first = await this.generate(FIRST_KEY, "completed");
    await Promise.all([
      this.generate("polled", "completed"),
      this.generate("refusing", "completed"),
      this.generate("losing", "completed"),
      this.generate("failing", "failed"),
      this.generateAndCancel(),
      this.useTrackOf(first),
      this.upload(),
      this.keepPlaylist(),
    ]);
    for (const job of this.history.jobs) await this.ended(job);
    await this.read();
  }

  /** Reads every end again. */
  async readAgain(): Promise<void> {
    for (const job of this.history.jobs) {
      const { status } = await this.look(job.id);
      if (status !== job.end) this.history.differences.push(`${job.key} ended ${job.end}, and is ${status}`);
    }
  }

  private async generate(model: string, expected: AskedJob["expected"]): Promise<AskedJob> {
    const body = { model_id: `${PROVIDER_ID}/${model}`, prompt: `a ${model} song` };
    return this.ask(model, "/api/v1/generations", expected, body);
  }

  /** Asks, and once more under the same key. */
  private async ask(key: string, path: string, expected: AskedJob["expected"], body?: object): Promise<AskedJob> {
    const headers = { "Idempotency-Key": key, ...(body === undefined ? {} : JSON_TYPE) };
    const send = async (): Promise<string> => {
      const response = await this.client.send("POST", path, { headers, ...(body === undefined ? {} : { body }) });
      return dataOf<{ id?: string; job_id?: string }>(response).id ?? dataOf<{ job_id: string }>(response).job_id;
    };
    const id = await send();
    const replayed = await send();
    if (replayed !== id) this.history.differences.push(`${key} is ${id}, and then ${replayed}`);
    const job = { key, id, expected, end: "" };
    this.history.jobs.push(job);
    return job;
  }

  private async generateAndCancel(): Promise<void> {
    const job = await this.generate("late", null);
    // Most of the time it is at the provider by now.
    while ((await this.look(job.id)).status === "queued") await sleep(20);
    await this.client.send("POST", `/api/v1/jobs/${job.id}/cancel`);
  }

  private async useTrackOf(job: AskedJob): Promise<void> {
    const { tracks = [] } = await this.ended(job);
    const [track] = tracks;
    if (track === undefined) return;
    const { client } = this;
    await this.ask("split", `/api/v1/tracks/${track.id}/stems`, "completed");
    await client.send("GET", `/api/v1/tracks/${track.id}`);
    const { pathname, search } = new URL(track.play_url);
    await client.send("GET", `${pathname}${search}`);
  }

  private async upload(): Promise<void> {
    const content = wavFile(aChord(1, () => 0.2, TINY));
    const body = formOf([{ name: "audio", filename: "hum.wav", content }]);
    await this.client.send("POST", "/api/v1/tracks", { headers: { "Content-Type": FORM_TYPE }, body });
  }

  private async keepPlaylist(): Promise<void> {
    const { client } = this;
    const created = await client.send("POST", "/api/v1/playlists", { headers: JSON_TYPE, body: { title: "Rain" } });
    const path = `/api/v1/playlists/${dataOf<{ id: string }>(created).id}`;
    await client.send("PATCH", path, { headers: JSON_TYPE, body: { title: "Rain again" } });
    await client.send("GET", path);
    await client.send("DELETE", path);
  }

  private async read(): Promise<void> {
    for (const path of ["me", "credits", "usage", "models", "generations", "logs", "library/search", "playlists"])
      await this.client.send("GET", `/api/v1/${path}`);
  }

  private async ended(job: AskedJob): Promise<SeenJob> {
    for (;;) {
      const seen = await this.look(job.id);
      if (ENDS.includes(seen.status)) {
        job.end = seen.status;
        return seen;
      }
      await sleep(20);
    }
  }

  private async look(id: string): Promise<SeenJob> {
    const job = dataOf<SeenJob>(await this.client.send("GET", `/api/v1/jobs/${id}`));
    const shown = await this.client.send("GET", `/api/v1/generations/${id}`);
    // A split is no generation.
    return shown.status === 404 ? job : dataOf<SeenJob>(shown);
  }
}

interface SeenJob {
  readonly status: string;
  readonly tracks?: readonly { readonly id: string; readonly play_url: string }[];
}
