import { randomUUID } from "node:crypto";
import { confirmCost } from "./confirm.js";
import { waitForEnd } from "./follow.js";
import type { McpHost, ToolResult } from "./host.js";
import { failure, META, toToolError } from "./results.js";
import type { Job } from "./schemas.js";
import { type Client, FermataError, type CallToolResult, type ServerContext } from "./sdk.js";

/** Arguments of every tool that charges. */
export interface ChargingArguments {
  readonly idempotency_key?: string | undefined;
  readonly confirm_cost?: number | undefined;
  readonly wait_seconds: number;
}

/** Work that costs credits. */
export interface ChargedWork {
  /** Begins the question of its cost: `A generation with …`. */
  readonly what: string;
  /** Credits, as they are now. */
  cost(api: Client): Promise<number>;
  /** @returns the id of the job */
  start(api: Client, idempotencyKey: string): Promise<string>;
  /** The state of the job. */
  result(api: Client, jobId: string): Promise<CallToolResult>;
}

/**
 * Asks for a confirmation where one is needed, starts the job, and waits for its end. A client that cancels the call
 * cancels the job.
 */
export async function charge(
  host: McpHost,
  context: ServerContext,
  args: ChargingArguments,
  work: ChargedWork,
): Promise<ToolResult> {
  const { api } = host;
  if (host.confirmAbove !== null) {
    const cost = await work.cost(api);
    const unconfirmed = confirmCost(host, context, { cost, given: args.confirm_cost, what: work.what });
    if (unconfirmed !== null) return unconfirmed;
  }
  const key = args.idempotency_key ?? `mcp-${randomUUID()}`;
  let jobId: string;
  try {
    jobId = await work.start(api, key);
  } catch (error) {
    if (!(error instanceof FermataError)) throw error;
    return withKey(failure(withAdvice(error, key)), key);
  }
  await waitOrCancel(host, context, jobId, args.wait_seconds);
  return withKey(await work.result(api, jobId), key);
}

async function waitOrCancel(host: McpHost, context: ServerContext, jobId: string, waitSeconds: number): Promise<void> {
  const { signal } = context.mcpReq;
  try {
    await waitForEnd(host, jobId, waitSeconds, context);
  } finally {
    if (signal.aborted && host.isCancelled(signal.reason)) await cancelJob(host.api, jobId).catch(host.onError);
  }
}

/** It may have been charged: only the same key is safe to try with. */
function withAdvice(error: FermataError, key: string): ReturnType<typeof toToolError> {
  const shown = toToolError(error);
  if (error.status !== 0 && error.status < 500) return shown;
  return { ...shown, message: `${shown.message} To try again without paying twice, send idempotency_key: ${key}.` };
}

function withKey(result: CallToolResult, key: string): CallToolResult {
  const { structuredContent } = result;
  return {
    ...result,
    ...(structuredContent === undefined ? {} : { structuredContent: { ...structuredContent, idempotency_key: key } }),
    _meta: { ...result._meta, [META.idempotencyKey]: key },
  };
}

export const readJob = (api: Client, id: string): Promise<Job> =>
  api.GET("/api/v1/jobs/{job_id}", { params: { path: { job_id: id } } });

/** Asks that the job be given up; one that has ended stays as it is. @throws {FermataError} */
export async function cancelJob(api: Client, id: string): Promise<void> {
  await api.POST("/api/v1/jobs/{job_id}/cancel", { params: { path: { job_id: id } } });
}

/** Why a job failed; its credits are given back by then. */
export function failedJob({ job_id: id, error }: Job): CallToolResult {
  return failure({
    code: error?.code ?? "generation_failed",
    message: `${error?.message ?? "The job failed."} Job ${id} was refunded.`,
    details: { job_id: id },
  });
}
