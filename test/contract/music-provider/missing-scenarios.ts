import { REFERENCE_MODES } from "../../../core/ports/music-provider.js";
import { isApplicable, type MusicProviderHarness, type NotApplicable, type OrNot } from "./harness.js";

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  generation: ["submit", "completes", "severalTracks"],
  work: [
    ...["status", "accepts", "running", "succeeds", "fails", "rejectsContent", "cancelled"],
    ...["timesOut", "gone", "expiredLink", "succeedsEmpty", "partlyReady"],
  ],
  refusals: ["content", "rateLimit", "key", "credit", "unavailable", "input", "errorWith200"],
  idempotency: ["keyOf"],
  callbacks: ["stages", "send", "signature"],
  lookup: ["route", "found", "absent"],
  cancel: ["route", "cancels", "tooLate"],
  probe: ["route", "responses", "refusesKey"],
  stemSplit: ["submit", "completes", "receivedSource"],
  vocalRemoval: ["submit", "completes", "receivedSource"],
};

type Members = Readonly<Record<string, unknown>>;

/** Names of scenarios that are neither given nor said not to exist: JavaScript and casts get past the types. */
export function missingScenarios(harness: MusicProviderHarness): string[] {
  const models = harness.models ?? harness.definition.models;
  const groups = models.some(({ requestOptions }) => requestOptions !== undefined)
    ? { ...GROUPS, options: ["sent"] }
    : GROUPS;
  const missing = Object.entries(groups).flatMap(([group, members]) =>
    missingIn(group, (harness as unknown as Members)[group] as OrNot<Members> | undefined, members),
  );
  return [...missing, ...referenceGaps(harness)];
}

function missingIn(group: string, given: OrNot<Members> | undefined, members: readonly string[]): string[] {
  if (given === undefined) return [group];
  if (!isApplicable(given)) return unexplained(group, given);
  return members.flatMap((member) => {
    const value = given[member];
    const isEmpty = Array.isArray(value) && value.length === 0;
    if (value === undefined || isEmpty) return [`${group}.${member}`];
    return isApplicable<unknown>(value) ? [] : unexplained(`${group}.${member}`, value);
  });
}

function unexplained(name: string, { notApplicable }: NotApplicable): string[] {
  return notApplicable.trim() === "" ? [`${name} (why is it not applicable?)`] : [];
}

/** A scenario for each mode that a model declares, with what the declaration makes necessary; none for any other. */
function referenceGaps({ models, definition, references = {} }: MusicProviderHarness): string[] {
  return REFERENCE_MODES.flatMap((mode) => {
    const at = `references.${mode}`;
    const declaring = (models ?? definition.models).filter((model) => model.references?.[mode] !== undefined);
    const scenario = references[mode];
    if (scenario === undefined) return declaring.length === 0 ? [] : [at];
    const { submit, own, sent, model = declaring[0]?.id } = scenario;
    const capability = declaring.find(({ id }) => id === model)?.references?.[mode];
    if (capability === undefined) return [`${at} (no model declares it: ${model ?? "there is none"})`];
    const hasPoints = mode !== "cover" || capability.takesStrength === true;
    const isRead = submit === undefined || !isApplicable(submit) || !hasPoints || sent !== undefined;
    return [
      ...missingIn(at, scenario as unknown as Members, ["submit", "completes", "receivedSource"]),
      ...(capability.sources === "own" && own === undefined ? [`${at}.own`] : []),
      ...(isRead ? [] : [`${at}.sent`]),
    ];
  });
}
