import { z } from "zod";
import type { McpHost } from "./host.js";
import { failure } from "./results.js";
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type CallToolResult,
  type InputRequiredResult,
} from "./sdk.js";
import type { ServerContext } from "./sdk.js";

const ANSWER = z.object({ confirm: z.boolean().describe("Whether these credits may be spent") });

/**
 * Asks the user before a call that costs more than the setting allows: by a form where the client has them, otherwise
 * by an error that the second call answers with `confirm_cost`.
 *
 * @param cost credits
 * @returns what the tool responds with; null: it may go on
 */
export function confirmCost(
  { server, confirmAbove }: Pick<McpHost, "server" | "confirmAbove">,
  { mcpReq }: ServerContext,
  { cost, given, what }: { readonly cost: number; readonly given: number | undefined; readonly what: string },
): CallToolResult | InputRequiredResult | null {
  if (confirmAbove === null || cost <= confirmAbove || given === cost) return null;
  // A response to another cost, from before a price changed, does not count for this one.
  const name = `cost_${cost}`;
  const price = `${what} costs ${cost} credits, more than the ${confirmAbove} that need no confirmation.`;
  if (mcpReq.inputResponses?.[name] !== undefined) {
    if (acceptedContent(mcpReq.inputResponses, name, ANSWER)?.confirm === true) return null;
    return failure({ code: "confirmation_declined", message: `${price} The user declined. Nothing was charged.` });
  }
  const message = `${price} Spend them?`;
  if (hasForms(server, mcpReq)) {
    return inputRequired({ inputRequests: { [name]: inputRequired.elicit({ message, requestedSchema: ANSWER }) } });
  }
  return failure({
    code: "confirmation_required",
    message: `${price} Nothing was charged. Ask the user, then call again with confirm_cost: ${cost}.`,
    details: { cost, confirm_above: confirmAbove },
  });
}

/** An empty declaration stands for forms, as before there were other kinds. */
function hasForms({ server }: McpHost["server"], { envelope }: ServerContext["mcpReq"]): boolean {
  // Since 2026-07-28 each request declares them; before, the first message of a connection did.
  const declared = envelope as { readonly [key: string]: unknown } | undefined;
  const ofRequest = declared?.[CLIENT_CAPABILITIES_META_KEY] as ReturnType<typeof server.getClientCapabilities>;
  const capabilities = ofRequest ?? server.getClientCapabilities();
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
