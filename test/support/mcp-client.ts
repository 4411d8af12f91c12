import { Client, StreamableHTTPClientTransport, type CallToolResult } from "@modelcontextprotocol/client";

/** `modern`: the revision 2026-07-28; `legacy`: those before. */
export type McpEra = "modern" | "legacy";

export interface McpClientOptions {
  readonly era?: McpEra;
  /** How the user responds to a form; without it the client has none. */
  readonly onForm?: (message: string) => { action: "accept" | "decline"; content?: { confirm: boolean } };
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client of the official SDK that is not connected yet. */
export function mcpClient({ era = "modern", onForm }: McpClientOptions = {}): Client {
  const client = new Client(
    { name: "fermata-tests", version: "1.0.0" },
    {
      capabilities: onForm === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
    },
  );
  if (onForm !== undefined) {
    client.setRequestHandler("elicitation/create", async ({ params }) => onForm(params.message));
  }
  return client;
}

/** A client that is connected to `/mcp` of a server. */
export async function connectMcp(url: string, key: string | null, options: McpClientOptions = {}): Promise<Client> {
  const client = mcpClient(options);
  const headers = { ...(key === null ? {} : { Authorization: `Bearer ${key}` }), ...options.headers };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return client;
}

/** All texts of a result. */
export function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/** `code` of a result that is an error; null of any other. */
export function codeOf({ isError, _meta }: CallToolResult): string | null {
  return isError === true ? (_meta?.["fermata/error"] as { readonly code: string }).code : null;
}

/** The data of a result. */
export function structured<T = Readonly<Record<string, unknown>>>({ structuredContent }: CallToolResult): T {
  return structuredContent as T;
}
