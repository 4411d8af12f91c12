import { asObject, type JsonObject, type ProviderModel } from "../sdk/index.js";
import { optionsOf } from "./options.js";
import type { Stems } from "./stems.js";
import { filled, type Workflow } from "./workflow.js";

const WEIGHTS = /\.(safetensors|sft|ckpt|pth?|bin|gguf|onnx)$/i;

/** Warnings about nodes and files of the workflows that the server lacks. @param info its node classes */
export function installationWarnings(
  info: JsonObject,
  models: readonly ProviderModel[],
  stems: Stems | null,
): string[] {
  return [
    ...models.flatMap((model) => {
      const workflow = filled(optionsOf(model).workflow, { model: model.upstream ?? null });
      return missingIn(workflow, info).map((what) => `${model.id}: ${what}`);
    }),
    ...(stems === null ? [] : missingIn(stems.workflow, info).map((what) => `stemWorkflow: ${what}`)),
  ];
}

function missingIn(workflow: Workflow, info: JsonObject): string[] {
  const nodes = Object.values(workflow);
  const classes = [...new Set(nodes.map(({ class_type: name }) => name))];
  const unknown = classes.filter((name) => info[name] === undefined);
  const files = nodes.flatMap(({ class_type: name, inputs }) =>
    Object.entries(inputs).flatMap(([input, value]) => {
      const listed = listedFor(asObject(info[name]), input);
      const isMissing = typeof value === "string" && WEIGHTS.test(value) && listed !== null && !listed.includes(value);
      return isMissing ? [value] : [];
    }),
  );
  return [
    ...unknown.map((name) => `the server has no node ${name}; update it, or install its node pack`),
    ...files.map((file) => `the server has no file ${file} among its models`),
  ];
}

/** The files that an input may name: `[[…]]`, or `["COMBO", { options: […] }]`; null: it takes none from a list. */
function listedFor(node: JsonObject, input: string): readonly unknown[] | null {
  const { required, optional } = asObject(node["input"]);
  const given = asObject(required)[input] ?? asObject(optional)[input];
  const [kind, more] = Array.isArray(given) ? (given as readonly unknown[]) : [];
  const listed = Array.isArray(kind) ? kind : asObject(more)["options"];
  return Array.isArray(listed) ? listed : null;
}
