import { createMcpHandler } from "./sdk.js";
import { createServer, type McpServerOptions } from "./server.js";

/** Nothing is resolved: the paths are all that counts. */
const IN_PROCESS = "http://in-process.invalid";

/** One message of a client, as HTTP brought it. */
export interface McpMessage {
  readonly request: Request;
  /** The parsed body. */
  readonly body: unknown;
  /** Of the request: its caller calls the API. */
  readonly authorization: string;
  /** Calls the API of this server, whatever the host of the address. */
  readonly fetch: typeof globalThis.fetch;
}

/** Streamable HTTP, without sessions: every message has a server of its own, and any process can take the next. */
export interface McpEndpoint {
  respond(message: McpMessage): Promise<Response>;
}

export interface McpEndpointOptions extends Pick<McpServerOptions, "version" | "confirmAbove" | "onError"> {
  /** Between two signs of life of a response; 15,000 ms by default. */
  readonly keepAliveMs?: number;
}

export function createMcpEndpoint({ keepAliveMs = 15_000, ...options }: McpEndpointOptions): McpEndpoint {
  const handler = createMcpHandler(
    ({ era, authInfo }) => {
      const { fetch } = authInfo?.extra as Pick<McpMessage, "fetch">;
      return createServer({
        ...options,
        // No network lies between, on which a request could get lost.
        api: { baseUrl: IN_PROCESS, headers: { Authorization: authInfo?.token ?? "" }, fetch, retries: 0 },
        // Since 2026-07-28 a client cancels by closing the response. Before, that may have been a broken connection,
        // and the message that cancels belongs to no session here: `cancel_job` is what such a client has.
        isCancelled: () => era === "modern",
      });
    },
    {
      // Signs of life keep the connection of a call that waits.
      responseMode: "sse",
      keepAliveMs,
      onerror: options.onError,
    },
  );
  return {
    respond: ({ request, body, authorization, fetch }) =>
      handler.fetch(request, {
        parsedBody: body,
        authInfo: { token: authorization, clientId: "", scopes: [], extra: { fetch } },
      }),
  };
}
