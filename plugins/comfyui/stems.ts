import { jsonObject } from "../sdk/index.js";
import { placeholdersIn, type Workflow, workflowIn } from "./workflow.js";

/** How tracks are separated: the checked settings. */
export interface Stems {
  readonly workflow: Workflow;
  /** The node that saves each stem, by the stem's label. */
  readonly outputs: { readonly [label: string]: string };
}

const KNOWN = new Set(["source", "seed", "job_id", "attempt_id"]);

/** @returns null when no workflow is configured @throws {Error} naming the invalid setting */
export function stemsIn(settings: { readonly stemWorkflow?: unknown; readonly stemOutputs?: unknown }): Stems | null {
  const { stemWorkflow, stemOutputs } = settings;
  if (typeof stemWorkflow !== "string" && typeof stemOutputs !== "string") return null;
  if (typeof stemWorkflow !== "string") throw new Error("stemOutputs: it goes with stemWorkflow");
  if (typeof stemOutputs !== "string") throw new Error("stemWorkflow: it goes with stemOutputs");
  const workflow = workflowIn(stemWorkflow);
  if (typeof workflow === "string") throw new Error(`stemWorkflow: ${workflow}`);
  const names = placeholdersIn(workflow);
  if (!names.has("source")) throw new Error("stemWorkflow: {{source}}, the uploaded track, is not in it");
  const unknown = [...names].find((name) => !KNOWN.has(name));
  if (unknown !== undefined)
    throw new Error(`stemWorkflow: there is no {{${unknown}}}; allowed: {{${[...KNOWN].join("}}, {{")}}}`);
  const outputs = jsonObject("stemOutputs", stemOutputs, '{"vocals":"12","instrumental":"15"}');
  for (const [label, node] of Object.entries(outputs)) {
    if (!/^[a-z][a-z0-9_ -]*$/.test(label) || label === "full")
      throw new Error(`stemOutputs: ${JSON.stringify(label)}; allowed: a stem's name in lower case`);
    if (typeof node !== "string" || workflow[node] === undefined)
      throw new Error(`stemOutputs: ${label}: ${JSON.stringify(node)}; allowed: the id of a node of stemWorkflow`);
  }
  if (Object.keys(outputs).length === 0) throw new Error("stemOutputs: it names no stem");
  return { workflow, outputs: outputs as { readonly [label: string]: string } };
}

/** The outputs of a vocal removal; null when one of them is not configured. */
export function vocalsOf({ outputs }: Stems): Stems["outputs"] | null {
  const { vocals, instrumental } = outputs;
  return vocals === undefined || instrumental === undefined ? null : { vocals, instrumental };
}
