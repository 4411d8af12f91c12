import { asObject, providerFailure } from "../sdk/index.js";
import type { ApiResponse, JsonObject, ProviderFailure } from "../sdk/index.js";

/** Messages of prompts with a node whose class is not installed. */
const MISSING_NODE = /does not exist|not found/i;

const WEIGHTS = /\.(safetensors|sft|ckpt|pth?|bin|gguf|onnx)$/i;

/** The failure of a rejected prompt. A missing node or file makes its model unavailable, and no other. */
export function refusedPrompt(response: ApiResponse): ProviderFailure | undefined {
  // Another server.
  if (response.status === 404 || response.status === 405) return providerFailure("misconfigured", response);
  if (response.status !== 400) return undefined;
  const { error, node_errors: nodes } = asObject(response.json());
  const { type, message, details } = asObject(error);
  const errors = Object.entries(asObject(nodes)).flatMap(([id, node]) => errorsOf(id, asObject(node)));
  const words = [type, message, details].filter((word): word is string => typeof word === "string" && word !== "");
  const text = [typeof error === "string" ? error : words.join(": "), ...errors.map((one) => one.text)].join("; ");
  const isMissing =
    type === "missing_node_type" ||
    errors.some(({ isFile }) => isFile) ||
    (errors.length === 0 && MISSING_NODE.test(text));
  return providerFailure(isMissing ? "model_unavailable" : "invalid_input", response, {
    message: text.slice(0, 300),
    ...(typeof type === "string" ? { code: type } : {}),
  });
}

interface NodeError {
  readonly text: string;
  /** A file of weights that is not there. */
  readonly isFile: boolean;
}

function errorsOf(id: string, { class_type: name, errors }: JsonObject): NodeError[] {
  return (Array.isArray(errors) ? errors : []).map(asObject).map(({ type, message, details, extra_info: extra }) => {
    const value = asObject(extra)["received_value"];
    return {
      text: `node ${id} (${String(name)}): ${String(details ?? message)}`,
      isFile: type === "value_not_in_list" && typeof value === "string" && WEIGHTS.test(value),
    };
  });
}
