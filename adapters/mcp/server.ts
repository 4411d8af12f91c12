import { addGenerationTools } from "./generations.js";
import type { McpHost } from "./host.js";
import { JSON_SCHEMA_VALIDATOR } from "./json-schema.js";
import { addAccountTools, addLibraryTools, addTrackResources } from "./library.js";
import { type ClientOptions, createClient, McpServer } from "./sdk.js";
import { addSplitTools } from "./splits.js";

const INSTRUCTIONS =
  "Fermata makes music for credits. Call list_models for what there is and what it costs, then generate_music. " +
  "Links to audio are signed and expire; get_track and search_library give fresh ones.";

/** Shows up in the usage report. */
const CLIENT = { "X-Client": "mcp" };

export interface McpServerOptions extends Pick<McpHost, "confirmAbove" | "isCancelled" | "onError"> {
  /** With the key, or the header that has it. */
  readonly api: ClientOptions;
  /** Of Fermata. */
  readonly version: string;
}

/** Fermata's tools and resources, as one caller uses them: everything is a call of the public API. */
export function createServer({ api, version, ...given }: McpServerOptions): McpServer {
  const server = new McpServer(
    { name: "fermata", title: "Fermata", version },
    {
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: JSON_SCHEMA_VALIDATOR,
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
    },
  );
  const host: McpHost = { ...given, server, api: createClient({ ...api, headers: { ...CLIENT, ...api.headers } }) };
  addAccountTools(host);
  addGenerationTools(host);
  addLibraryTools(host);
  addSplitTools(host);
  addTrackResources(host);
  return server;
}
