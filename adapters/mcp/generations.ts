import { z } from "zod";
import { cancelJob, charge, failedJob, readJob } from "./charge.js";
import { waitForEnd } from "./follow.js";
import { guarded, type McpHost } from "./host.js";
import { META, outputLinks, success, trackLine, trackLinks } from "./results.js";
import { CHARGING, GENERATION, ID, JOB, WAIT_SECONDS } from "./schemas.js";
import type { CallToolResult, Client, Schemas } from "./sdk.js";

const READS = { readOnlyHint: true, idempotentHint: true, destructiveHint: false, openWorldHint: false };

const REQUEST = z.object({
  model_id: ID.describe("A model of list_models"),
  prompt: z.string().min(1).max(3_000).describe("What the music should be like"),
  lyrics: z.string().optional().describe("Words to sing, where the model takes them; not together with instrumental"),
  duration: z.int().optional().describe("Seconds, within the bounds of the model"),
  instrumental: z.boolean().optional().describe("Whether there is no singing"),
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  metadata: z.record(z.string(), z.unknown()).optional().describe("Stored with the request, never interpreted"),
  ...CHARGING,
});

/** `generate_music`, `get_generation`, `wait_for_generation`, `get_job` and `cancel_job`. */
export function addGenerationTools(host: McpHost): void {
  addGenerate(host);
  addReads(host);
  addJobTools(host);
}

function addGenerate(host: McpHost): void {
  host.server.registerTool(
    "generate_music",
    {
      title: "Generate music",
      description:
        "Creates music from a prompt. Costs the model's credit_cost, as list_models names it; a failed generation is " +
        "refunded. Waits up to wait_seconds, then returns the generation as it is: call wait_for_generation for the " +
        "rest. Cancelling the call cancels the generation.",
      inputSchema: REQUEST,
      outputSchema: GENERATION.extend({ idempotency_key: z.string() }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
      _meta: { [META.cost]: { unit: "credits", of: "the model's credit_cost, in list_models" } },
    },
    guarded(host, ({ idempotency_key, confirm_cost, wait_seconds, ...request }: z.infer<typeof REQUEST>, context) => {
      const { model_id } = request;
      // JSON has no undefined members.
      const body = { ...request, client: "mcp" } as Schemas["GenerationRequest"];
      return charge(
        host,
        context,
        { idempotency_key, confirm_cost, wait_seconds },
        {
          what: `A generation with ${model_id}`,
          cost: async (api) =>
            (await api.GET("/api/v1/models/{model_id}", { params: { path: { model_id } } })).credit_cost,
          start: async (api, key) => {
            const header = { "Idempotency-Key": key };
            return (await api.POST("/api/v1/generations", { params: { header }, body })).id;
          },
          result: generationResult,
        },
      );
    }),
  );
}

function addReads(host: McpHost): void {
  host.server.registerTool(
    "get_generation",
    {
      title: "Look at a generation",
      description: "The state of a generation, with its tracks once it has completed. Free.",
      inputSchema: z.object({ generation_id: ID }),
      outputSchema: GENERATION,
      annotations: READS,
      _meta: { [META.cost]: { unit: "credits", amount: 0 } },
    },
    guarded(host, ({ generation_id: id }: { generation_id: string }) => generationResult(host.api, id)),
  );
  host.server.registerTool(
    "wait_for_generation",
    {
      title: "Wait for a generation",
      description:
        "Waits until a generation has ended, at most wait_seconds, and returns it. Free. Cancelling the call leaves " +
        "the generation alone.",
      inputSchema: z.object({ generation_id: ID, wait_seconds: WAIT_SECONDS }),
      outputSchema: GENERATION,
      annotations: READS,
      _meta: { [META.cost]: { unit: "credits", amount: 0 } },
    },
    guarded(host, async (args: { generation_id: string; wait_seconds: number }, context) => {
      await waitForEnd(host, args.generation_id, args.wait_seconds, context);
      return generationResult(host.api, args.generation_id);
    }),
  );
}

function addJobTools(host: McpHost): void {
  host.server.registerTool(
    "get_job",
    {
      title: "Look at a job",
      description:
        "The state of a generation, stem split or vocal removal, with links to its files once it has completed; " +
        "waits for its end where wait_seconds is not 0. Free.",
      inputSchema: z.object({ job_id: ID, wait_seconds: WAIT_SECONDS.default(0) }),
      outputSchema: JOB,
      annotations: READS,
      _meta: { [META.cost]: { unit: "credits", amount: 0 } },
    },
    guarded(host, async (args: { job_id: string; wait_seconds: number }, context) => {
      await waitForEnd(host, args.job_id, args.wait_seconds, context);
      return jobResult(host.api, args.job_id);
    }),
  );
  host.server.registerTool(
    "cancel_job",
    {
      title: "Cancel a job",
      description:
        "Gives up a generation, stem split or vocal removal that has not ended, and refunds it. One that has ended " +
        "stays as it is.",
      inputSchema: z.object({ job_id: ID }),
      outputSchema: JOB,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      _meta: { [META.cost]: { unit: "credits", amount: 0 } },
    },
    guarded(host, async ({ job_id: id }: { job_id: string }) => {
      await cancelJob(host.api, id);
      const job = await readJob(host.api, id);
      return success(`Job ${id} is ${job.status}.`, job, outputLinks(job));
    }),
  );
}

async function generationResult(api: Client, id: string): Promise<CallToolResult> {
  const generation = await api.GET("/api/v1/generations/{id}", { params: { path: { id } } });
  if (generation.status === "failed") return failedJob(await readJob(api, id));
  if (generation.status !== "completed") {
    const text = `Generation ${id} is ${generation.status}. Call wait_for_generation with generation_id: ${id}.`;
    return success(text, generation);
  }
  const { tracks, credits_charged: credits } = generation;
  const text = [`Generation ${id} completed for ${credits} credits.`, ...tracks.map(trackLine)].join("\n");
  return success(text, generation, trackLinks(tracks));
}

/** What a job is, or why it failed. */
export async function jobResult(api: Client, id: string): Promise<CallToolResult> {
  const job = await readJob(api, id);
  if (job.status === "failed") return failedJob(job);
  if (job.status !== "completed") {
    return success(`Job ${id} is ${job.status}. Call get_job with job_id: ${id} and wait_seconds.`, job);
  }
  const lines = job.outputs.map(({ label, url }) => `- ${label}: ${url}`);
  return success(
    [`Job ${id} completed for ${job.credits_charged} credits.`, ...lines].join("\n"),
    job,
    outputLinks(job),
  );
}
