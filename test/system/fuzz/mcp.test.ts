import { expect } from "chai";
import fc from "fast-check";
import { z } from "zod";
import type { Schema } from "../../../adapters/http/openapi/model.js";
import { fuzzed } from "../../support/fuzz/fuzz.js";
import type { Caller, FuzzRequest } from "../../support/fuzz/requests.js";
import { unacceptable } from "../../support/fuzz/responses.js";
import { SAMPLES } from "../../support/fuzz/samples.js";
import { valuesOf } from "../../support/fuzz/schema-values.js";
import type { FuzzResponse } from "../../support/fuzz/send.js";
import { aChange, changed, oddText, oddValue } from "../../support/fuzz/values.js";
import { FuzzWorld } from "../../support/fuzz/world.js";

interface Tool {
  readonly name: string;
  readonly inputSchema: Schema;
  readonly outputSchema: Parameters<typeof z.fromJSONSchema>[0];
}

/** A result or an error of JSON-RPC, as far as it is looked at. */
interface Reply {
  readonly result?: {
    readonly tools?: readonly Tool[];
    readonly isError?: boolean;
    readonly structuredContent?: unknown;
    readonly _meta?: { readonly "fermata/error"?: { readonly code: string } };
  };
  readonly error?: { readonly code: number; readonly message: string };
}

const TOOLS = [
  ...["cancel_job", "generate_music", "get_credits", "get_generation", "get_job", "get_track", "list_models"],
  ...["remove_vocals", "search_library", "split_stems", "wait_for_generation"],
];
const METHODS = [
  ...["initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list"],
  ...["prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "notifications/initialized"],
  ...["notifications/cancelled", "server/discover", "tasks/get", ""],
];
/** Of JSON-RPC: "internal error". The SDK says so too of `params` that its schema refuses, with what it refuses. */
const INTERNAL = -32_603;
const REFUSED_PARAMS = /^\[\n {2}\{\n[^]*"path": \[\n {6}"params"/;

/** By what tools call them. Waiting is short: nothing comes of waiting for what does not exist. */
const VALUES = {
  ...SAMPLES,
  ...{ job_id: ["@own.job@", "@foreign.job@"], generation_id: ["@own.job@", "@foreign.job@"] },
  ...{ wait_seconds: [0, 1], idempotency_key: ["one", "two"] },
};

const HEADERS = [
  ["Content-Type", "application/json"],
  ["Accept", "application/json, text/event-stream"],
] as const;

const CALLERS = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Caller>("own") },
  { weight: 4, arbitrary: fc.constantFrom<Caller>("none", "wrong", "revoked", "limited", "foreign") },
);

const messageOf = (caller: Caller, message: unknown): FuzzRequest => ({
  ...{ caller, method: "POST", path: "/mcp", headers: HEADERS, isRouted: true },
  body: JSON.stringify(message),
});

const callOf = (name: unknown, values: unknown): object => ({
  ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
  params: { name, arguments: values },
});

describe("/mcp under generated messages", function () {
  this.timeout(600_000);
  let world: FuzzWorld;
  let tools: readonly Tool[];
  before(async () => {
    world = await FuzzWorld.open();
    const response = await world.send(messageOf("own", { jsonrpc: "2.0", id: 1, method: "tools/list" }), "public");
    tools = replyIn(response)?.result?.tools ?? [];
  });
  after(() => world.close());

  it("has these tools", () => {
    expect(tools.map(({ name }) => name).sort()).to.deep.equal(TOOLS);
  });

  for (const name of TOOLS) {
    fuzzed(
      `responds to a call of ${name} with what its schema says, or with a code of the API`,
      { short: 4, long: 400 },
      () =>
        fc.record({
          caller: CALLERS,
          values: valuesOf(toolOf(name).inputSchema, {}, VALUES),
          changes: fc.oneof(
            { weight: 2, arbitrary: fc.constant([]) },
            { weight: 1, arbitrary: fc.array(aChange, { minLength: 1, maxLength: 3 }) },
          ),
        }),
      async ({ caller, values, changes }) => {
        const request = messageOf(caller, callOf(name, changed(values, changes)));
        const response = await world.send(request, "public");
        const reply = replyIn(response);
        expectNone([...common(request, response), ...issuesIn(reply), ...toolIssues(toolOf(name), reply)], response);
      },
    );
  }

  fuzzed(
    "responds to any other message with a decision",
    { short: 12, long: 1_000 },
    () =>
      fc.oneof(
        fc.record({
          caller: CALLERS,
          message: fc.record(
            {
              jsonrpc: fc.constantFrom<unknown>("2.0", "2.0", "1.0", null),
              id: fc.oneof(fc.constantFrom<unknown>(1, "a", 0.5), oddValue),
              method: fc.oneof(fc.constantFrom(...METHODS), oddText),
              params: fc.oneof(fc.constantFrom({ name: "get_credits" }, { uri: "fermata://tracks/x" }), oddValue),
            },
            { requiredKeys: ["method"] },
          ),
        }),
        fc.record({ caller: CALLERS, message: oddValue }),
      ),
    async ({ caller, message }) => {
      const request = messageOf(caller, message);
      const response = await world.send(request, "public");
      expectNone([...common(request, response), ...issuesIn(replyIn(response))], response);
    },
  );

  it("leaves a ledger and an audit log that hold, and no balance below zero", () => world.check());

  function toolOf(name: string): Tool {
    return tools.find((tool) => tool.name === name) as Tool;
  }

  function common(request: FuzzRequest, response: FuzzResponse): string[] {
    const leaks = world.leaksIn(response, request.caller, "public");
    // A refusal of the protocol has the form of JSON-RPC.
    const refusals = unacceptable(request, { ...response, status: replyIn(response) === null ? response.status : 200 });
    return [...refusals, ...leaks, ...world.loggedErrors()];
  }
});

/** The last message of a response, or null for one of another form: a refusal of the API, or none at all. */
function replyIn({ headers, body }: FuzzResponse): Reply | null {
  const isStream = String(headers["content-type"]).startsWith("text/event-stream");
  const text = isStream
    ? (body.toString().match(/^data: .+$/gm) ?? []).at(-1)?.slice("data: ".length)
    : body.toString();
  if (text === undefined || text === "") return null;
  const reply = JSON.parse(text) as Reply & { readonly jsonrpc?: string };
  return reply.jsonrpc === "2.0" ? reply : null;
}

function issuesIn(reply: Reply | null): string[] {
  const { result, error } = reply ?? {};
  const isInternal = error?.code === INTERNAL && !REFUSED_PARAMS.test(error.message);
  const hasFailed = isInternal || result?._meta?.["fermata/error"]?.code === "internal_error";
  return hasFailed ? [`it failed: ${JSON.stringify(reply)}`] : [];
}

function toolIssues({ outputSchema }: Tool, reply: Reply | null): string[] {
  if (reply?.result === undefined || reply.result.isError === true) return [];
  const { success, error } = z.fromJSONSchema(outputSchema).safeParse(reply.result.structuredContent);
  return success ? [] : [z.prettifyError(error)];
}

function expectNone(issues: readonly string[], { body }: FuzzResponse): void {
  if (issues.length > 0) throw new Error([...issues.slice(0, 5), body.toString().slice(0, 600)].join("\n"));
}
