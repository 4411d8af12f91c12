import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { createMcpEndpoint } from "../../adapters/mcp/endpoint.js";
import { type McpEra, mcpClient, structured } from "../support/mcp-client.js";

const CREDITS = { available: 1, monthly_credits: 1, pack_credits: 0, total_spent: 0 };

describe("A call at /mcp that waits", () => {
  for (const era of ["modern", "legacy"] as const satisfies McpEra[]) {
    it(`shows that it lives, for clients of the ${era} revision`, async () => {
      const errors: unknown[] = [];
      let respond = (_response: Response): void => undefined;
      const held = new Promise<Response>((resolve) => (respond = resolve));
      let alive = (): void => undefined;
      const isAlive = new Promise<void>((resolve) => (alive = resolve));
      const onError = (error: unknown): void => void errors.push(error);
      const endpoint = createMcpEndpoint({ version: "1.0.0", confirmAbove: 0, onError, keepAliveMs: 5 });
      const atServer = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
        if (init.method !== "POST") return new Response(null, { status: 405 });
        const body = JSON.parse(init.body as string) as unknown;
        const message = { request: new Request(input, init), body, authorization: "", fetch: () => held };
        const response = await endpoint.respond(message);
        if (response.body === null) return response;
        const [forClient, forTest] = response.body.tee();
        void watch(forTest, alive);
        return new Response(forClient, response);
      };
      const client = mcpClient({ era });
      await client.connect(new StreamableHTTPClientTransport(new URL("http://mcp.invalid/mcp"), { fetch: atServer }));
      const call = client.callTool({ name: "get_credits", arguments: {} });
      await isAlive;
      respond(Response.json({ data: CREDITS }));
      expect(structured(await call)).to.deep.equal(CREDITS);
      await client.close();
      expect(errors).to.deep.equal([]);
    });
  }
});

/** Calls `alive` when a comment comes. */
async function watch(body: ReadableStream<Uint8Array>, alive: () => void): Promise<void> {
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) if (/^:/m.test(chunk)) alive();
}
