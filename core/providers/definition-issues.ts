import { PROVIDER_PORT_VERSION } from "../ports/music-provider.js";
import type { MusicProvider, ProviderCapabilities } from "../ports/music-provider.js";
import { capabilityIssues, hostIssues, longestCallIssues, settingIssues, TAKEN_SETTINGS } from "./definition-parts.js";
import { modelIssues } from "./model-rules.js";
import { isWhole, shown } from "./plain-values.js";

const MEMBERS: ReadonlySet<string> = new Set([
  "id",
  "label",
  "portVersion",
  "concurrency",
  "maxInFlight",
  "longestCallMs",
  "hosts",
  "settings",
  "models",
  "offersModel",
  "checkModel",
  "capabilities",
  "create",
]);

/**
 * Everything that is wrong with what a plugin exports, a line each; `[]` when it can be loaded. Nothing of it is
 * started.
 *
 * @param value the default export, of any type
 */
export function definitionIssues(value: unknown): string[] {
  if (typeof value !== "object" || value === null)
    return ["its default export is no provider definition; allowed: what `defineProvider` returns"];
  const definition = value as Readonly<Record<string, unknown>>;
  const { id, label, portVersion, concurrency, maxInFlight, longestCallMs } = definition;
  const { settings, models, offersModel, checkModel, capabilities, create } = definition;
  const issues: string[] = [];
  if (portVersion !== PROVIDER_PORT_VERSION)
    issues.push(`it speaks port version ${shown(portVersion)}; this Fermata speaks ${PROVIDER_PORT_VERSION}`);
  if (typeof id !== "string" || !/^[a-z0-9][a-z0-9-]{0,29}$/.test(id))
    issues.push(`id: ${shown(id)}; allowed: up to 30 lower-case letters, digits and -`);
  if (typeof label !== "string" || label.trim() === "")
    issues.push(`label: ${shown(label)}; allowed: a name to be shown`);
  if (typeof concurrency !== "function" && !isWhole(concurrency, 1))
    issues.push(`concurrency: ${shown(concurrency)}; allowed: a whole number from 1, or a function of the settings`);
  if (maxInFlight !== undefined && !isWhole(maxInFlight, 1))
    issues.push(`maxInFlight: ${shown(maxInFlight)}; allowed: a whole number from 1`);
  if (longestCallMs !== undefined && typeof longestCallMs !== "function")
    issues.push(...longestCallIssues(longestCallMs));
  if (definition["hosts"] !== undefined && typeof definition["hosts"] !== "function")
    issues.push(...hostIssues(definition["hosts"]));
  if (typeof create !== "function") issues.push("create: missing; allowed: a function that returns the provider");
  if (offersModel !== undefined && typeof offersModel !== "function")
    issues.push(`offersModel: ${shown(offersModel)}; allowed: a function`);
  if (checkModel !== undefined && typeof checkModel !== "function")
    issues.push(`checkModel: ${shown(checkModel)}; allowed: a function`);
  issues.push(...settingIssues(settings, TAKEN_SETTINGS), ...modelIssues(models, typeof id === "string" ? id : null));
  if (typeof capabilities !== "function") issues.push(...capabilityIssues(capabilities));
  for (const name of Object.keys(definition))
    if (!MEMBERS.has(name))
      issues.push(`${name}: a definition has no such member; allowed: ${[...MEMBERS].join(", ")}`);
  return issues;
}

/** Where a started provider and its capabilities contradict each other, a line each. */
export function methodIssues(provider: MusicProvider, capabilities: ProviderCapabilities): string[] {
  return [...missingMethods(provider, capabilities), ...idleMethods(provider, capabilities)];
}

/** What the capabilities of a started provider promise, and it cannot do, a line each. */
export function missingMethods(provider: MusicProvider, capabilities: ProviderCapabilities): string[] {
  const has = methodsOf(provider);
  const issues: string[] = [];
  if (!has("submit")) issues.push("submit: missing; every provider has it");
  for (const name of ["lookup", "cancel"] as const)
    if (capabilities[name] && !has(name))
      issues.push(`capabilities.${name} is true, and there is no method \`${name}\``);
  const callbacks = capabilities.callbacks ?? "none";
  if (callbacks === "signed" && !has("parseCallback"))
    issues.push("capabilities.callbacks is signed, and there is no method `parseCallback`");
  if (callbacks !== "none" && !has("poll") && !has("pollMany"))
    issues.push(
      `capabilities.callbacks is ${callbacks}, and there is neither \`poll\` nor \`pollMany\`: a callback may ` +
        `never come`,
    );
  return issues;
}

/** What a started provider can do, and its capabilities do not say, a line each. */
function idleMethods(provider: MusicProvider, capabilities: ProviderCapabilities): string[] {
  const has = methodsOf(provider);
  const issues: string[] = [];
  for (const name of ["lookup", "cancel"] as const)
    if (!capabilities[name] && has(name))
      issues.push(`there is a method \`${name}\`, and capabilities.${name} is false: the host would never call it`);
  if ((capabilities.callbacks ?? "none") === "none" && has("parseCallback"))
    issues.push("there is a method `parseCallback`, and capabilities.callbacks is none: the host would never call it");
  return issues;
}

function methodsOf(provider: MusicProvider): (name: keyof MusicProvider) => boolean {
  return (name) => typeof provider[name] === "function";
}
