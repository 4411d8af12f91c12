import type { ConcurrencyBudget } from "../../core/rate-limits/concurrency-budget.js";
import type { InProcessFetch } from "./in-process.js";

/** Responds to one message of a client of the Model Context Protocol. */
export interface McpEndpoint {
  respond(message: {
    readonly request: Request;
    /** The parsed body of `request`. */
    readonly body: unknown;
    /** Of the request. */
    readonly authorization: string;
    /** Calls the API of this server. */
    readonly fetch: InProcessFetch;
  }): Promise<Response>;
}

/** Behind `/mcp`. */
export interface McpDeps {
  readonly endpoint: McpEndpoint;
  /** Counts the calls that an account has open at once. */
  readonly calls: Pick<ConcurrencyBudget, "enter">;
}
