import { ADAPTER_PORT_VERSION, type AdapterPort } from "../../core/ports/adapter.js";
import { settingIssues } from "../../core/providers/definition-parts.js";
import { shown } from "../../core/providers/plain-values.js";

export const ADAPTER_PORTS: readonly AdapterPort[] = ["storage", "queue", "audio"];

const RESTS = ["path", "nothing", "server", "database"];
const MEMBERS = ["port", "portVersion", "schemes", "settings", "open", "check"];

/** What an adapter of each port has to have when it is open. */
const METHODS: Readonly<Record<AdapterPort, readonly string[]>> = {
  storage: [],
  queue: ["notify", "prepare", "listen", "check", "close"],
  audio: ["put", "stat", "read", "deleteAll", "delete", "list"],
};

/** The members of `Stores`. */
const STORES = [
  ...["unitOfWork", "accounts", "auditLog", "ledger", "idempotency", "jobs", "callbacks"],
  ...["library", "health", "rateCounts", "installation", "requestLog", "uploads", "webhooks", "activity"],
  ...["erasures", "growth"],
];

type Members = Readonly<Record<string, unknown>>;

/**
 * Everything that is wrong with what an adapter's package exports, a line each; `[]` when it can be opened. Nothing of
 * it is called.
 *
 * @param value the default export, of any type
 */
export function adapterIssues(value: unknown): string[] {
  if (!isObject(value)) return ["its default export is no adapter; allowed: what `defineAdapter` returns"];
  const { port, portVersion, schemes, settings, open, check } = value;
  const issues: string[] = [];
  if (portVersion !== ADAPTER_PORT_VERSION)
    issues.push(`it speaks port version ${shown(portVersion)}; this Fermata speaks ${ADAPTER_PORT_VERSION}`);
  if (!(ADAPTER_PORTS as readonly unknown[]).includes(port))
    issues.push(`port: ${shown(port)}; allowed: ${ADAPTER_PORTS.join(", ")}`);
  issues.push(...schemeIssues(schemes), ...settingIssues(settings));
  if (typeof open !== "function") issues.push("open: missing; allowed: a function that opens the adapter");
  if (check !== undefined && typeof check !== "function") issues.push(`check: ${shown(check)}; allowed: a function`);
  for (const name of Object.keys(value))
    if (!MEMBERS.includes(name)) issues.push(`${name}: an adapter has no such member; allowed: ${MEMBERS.join(", ")}`);
  return issues;
}

function schemeIssues(schemes: unknown): string[] {
  if (!isObject(schemes) || Object.keys(schemes).length === 0)
    return [`schemes: ${shown(schemes)}; allowed: an object, a member for each scheme of its URLs`];
  return Object.entries(schemes).flatMap(([scheme, form]) => {
    const at = `schemes.${scheme}`;
    const issues: string[] = [];
    if (!/^[a-z][a-z0-9+.-]*$/.test(scheme))
      issues.push(`${at}: no scheme of a URL; allowed: lower-case letters, digits, +, . and -`);
    if (!isObject(form)) return [...issues, `${at}: ${shown(form)}; allowed: { form, rest }`];
    if (typeof form["form"] !== "string" || !form["form"].startsWith(`${scheme}:`))
      issues.push(`${at}.form: ${shown(form["form"])}; allowed: an example that begins with ${scheme}:`);
    if (!RESTS.includes(form["rest"] as string))
      issues.push(`${at}.rest: ${shown(form["rest"])}; allowed: ${RESTS.join(", ")}`);
    return issues;
  });
}

/** What an open adapter lacks, a line each. */
export function openedIssues(port: AdapterPort, value: unknown): string[] {
  if (!isObject(value)) return [`open returned ${shown(value)}; allowed: ${port === "storage" ? "{ stores }" : "it"}`];
  const missing = METHODS[port].filter((name) => typeof value[name] !== "function");
  const stores = port === "storage" ? missingStores(value["stores"]) : [];
  return [...missing.map((name) => `${name}: missing; every ${port} has this method`), ...stores];
}

function missingStores(stores: unknown): string[] {
  if (!isObject(stores)) return [`stores: ${shown(stores)}; allowed: an object with every store`];
  return STORES.filter((name) => !isObject(stores[name])).map((name) => `stores.${name}: missing`);
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
}
