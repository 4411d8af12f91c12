/**
 * What is used of the official SDK, and of Fermata's client. `build.js` puts a bundle in place of this module's output,
 * so that an installation of Fermata needs neither the SDK nor its validators, nor the client's libraries.
 */
export { createClient, FermataError } from "../client/index.js";
export type { Client, ClientOptions, Progress, Schemas } from "../client/index.js";
export {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  inputRequired,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  SdkError,
  SdkErrorCode,
} from "@modelcontextprotocol/server";
export { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
export type {
  CallToolResult,
  InputRequiredResult,
  JsonSchemaType,
  jsonSchemaValidator,
  McpRequestContext,
  ResourceLink,
  ServerContext,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
