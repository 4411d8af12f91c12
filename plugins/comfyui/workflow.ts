import { isObject, type JsonObject, parseJson } from "../sdk/index.js";

/** A workflow in API format: its nodes by their ids. */
export interface Workflow {
  readonly [id: string]: WorkflowNode;
}

export interface WorkflowNode {
  readonly class_type: string;
  readonly inputs: JsonObject;
}

export type Value = string | number | boolean | null;

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;
const ALONE = /^\{\{\s*([^{}]*?)\s*\}\}$/;

/** @param given the workflow, or its JSON text @returns the workflow, or the issue of one that is invalid */
export function workflowIn(given: unknown): Workflow | string {
  const value = typeof given === "string" ? parseJson(given) : given;
  if (!isObject(value)) return "allowed: a workflow in API format, a JSON object";
  if (Array.isArray(value["nodes"])) return "it is in the editor's own format; allowed: that of Export (API)";
  const invalid = Object.entries(value).find(([, node]) => !isNode(node));
  if (invalid !== undefined) return `its node ${JSON.stringify(invalid[0])} has no class_type or no inputs`;
  return Object.keys(value).length === 0 ? "it has no nodes" : (value as unknown as Workflow);
}

/** The names of all placeholders, known or not. */
export function placeholdersIn(workflow: Workflow): ReadonlySet<string> {
  return new Set([...JSON.stringify(workflow).matchAll(PLACEHOLDER)].map(([, name = ""]) => name));
}

/**
 * The workflow with its placeholders filled in. A text that is one placeholder becomes its value, a number a number; an
 * input that is one without a value is left out. Inside other text, a placeholder without a value is empty.
 */
export function filled(workflow: Workflow, values: { readonly [name: string]: Value }): Workflow {
  return filledIn(workflow, values) as Workflow;
}

function filledIn(template: unknown, values: { readonly [name: string]: Value }): unknown {
  if (typeof template === "string") {
    const [, alone] = ALONE.exec(template) ?? [];
    if (alone !== undefined) return valueOf(alone, values) ?? undefined;
    return template.replace(PLACEHOLDER, (_, name: string) => String(valueOf(name, values) ?? ""));
  }
  if (Array.isArray(template)) return template.map((item) => filledIn(item, values));
  if (!isObject(template)) return template;
  const members = Object.entries(template).map(([name, value]) => [name, filledIn(value, values)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

function valueOf(name: string, values: { readonly [name: string]: Value }): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function isNode(node: unknown): boolean {
  return isObject(node) && typeof node["class_type"] === "string" && isObject(node["inputs"]);
}
