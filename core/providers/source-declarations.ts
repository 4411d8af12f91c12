import { ASSET_CONTENT_TYPES, REFERENCE_MODES } from "../ports/music-provider.js";
import { COST, isCost, isObject, isWhole, shown } from "./plain-values.js";

const LIMITS = ["sources", "contentTypes", "maxBytes", "maxSeconds", "needsUrl", "upstreamCost"];
const MODE_MEMBERS = [...LIMITS, "creditCost", "takesStrength"];

/**
 * Everything that is wrong with what a plugin declares of the tracks that it takes, a line each.
 *
 * @param members all that it may declare
 */
export function sourceIssues(at: string, limits: unknown, members: readonly string[] = LIMITS): string[] {
  if (limits === undefined) return [];
  if (!isObject(limits)) return [`${at}: ${shown(limits)}; allowed: { sources, … }; left out where it cannot`];
  const { sources, contentTypes, upstreamCost, needsUrl } = limits;
  const issues: string[] = [];
  if (sources !== "any" && sources !== "own") issues.push(`${at}.sources: ${shown(sources)}; allowed: any, own`);
  const areKnown =
    contentTypes === undefined ||
    (Array.isArray(contentTypes) &&
      contentTypes.length > 0 &&
      contentTypes.every((type) => (ASSET_CONTENT_TYPES as readonly unknown[]).includes(type)));
  if (!areKnown) issues.push(`${at}.contentTypes: ${shown(contentTypes)}; allowed: ${ASSET_CONTENT_TYPES.join(", ")}`);
  for (const name of ["maxBytes", "maxSeconds"]) {
    const value = limits[name];
    if (value !== undefined && !isWhole(value, 1))
      issues.push(`${at}.${name}: ${shown(value)}; allowed: a whole number from 1`);
  }
  if (needsUrl !== undefined && typeof needsUrl !== "boolean")
    issues.push(`${at}.needsUrl: ${shown(needsUrl)}; allowed: true, false`);
  if (upstreamCost !== undefined && !isCost(upstreamCost))
    issues.push(`${at}.upstreamCost: ${shown(upstreamCost)}; allowed: ${COST}`);
  for (const name of Object.keys(limits))
    if (!members.includes(name)) issues.push(`${at}.${name}: no such member; allowed: ${members.join(", ")}`);
  return issues;
}

/** The same of the modes in which a model works from a track. */
export function referenceDeclarationIssues(at: string, references: unknown): string[] {
  if (!isObject(references)) return [`${at}: ${shown(references)}; allowed: an object, a member for each mode`];
  return Object.entries(references).flatMap(([mode, capability]) => {
    const its = `${at}.${mode}`;
    if (!(REFERENCE_MODES as readonly string[]).includes(mode))
      return [`${its}: there is no such mode; allowed: ${REFERENCE_MODES.join(", ")}`];
    if (!isObject(capability)) return [`${its}: ${shown(capability)}; allowed: { sources, … }`];
    const { creditCost, takesStrength } = capability;
    const issues = sourceIssues(its, capability, MODE_MEMBERS);
    if (creditCost !== undefined && !isWhole(creditCost, 0))
      issues.push(`${its}.creditCost: ${shown(creditCost)}; allowed: a whole number of credits`);
    if (takesStrength !== undefined && typeof takesStrength !== "boolean")
      issues.push(`${its}.takesStrength: ${shown(takesStrength)}; allowed: true, false`);
    return issues;
  });
}
