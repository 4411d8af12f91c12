import { failure, toToolError } from "./results.js";
import { type Client, FermataError } from "./sdk.js";
import type { CallToolResult, InputRequiredResult, McpServer, ServerContext } from "./sdk.js";

/** What tools and resources work with. */
export interface McpHost {
  readonly server: McpServer;
  readonly api: Client;
  /** Credits; null: no cost has to be confirmed. */
  readonly confirmAbove: number | null;
  /** Whether a call that was aborted for this reason is one that its client wants no more. */
  isCancelled(reason: unknown): boolean;
  /** Notified of faults in here, and of cancellations that failed. */
  onError(error: unknown): void;
}

export type ToolResult = CallToolResult | InputRequiredResult;

/** A tool whose errors are results that say `isError`: the API's code and message, and nothing of a fault in here. */
export function guarded<A>(
  host: McpHost,
  work: (args: A, context: ServerContext) => Promise<ToolResult>,
): (args: A, context: ServerContext) => Promise<ToolResult> {
  return async (args, context) => {
    try {
      return await work(args, context);
    } catch (error) {
      if (!(error instanceof FermataError) && !context.mcpReq.signal.aborted) host.onError(error);
      return failure(toToolError(error));
    }
  };
}
