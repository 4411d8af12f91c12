import { ProviderFailure } from "../sdk/index.js";

const FAILURE_KINDS = ["unavailable", "timeout", "content_rejected", "failed"] as const;
const MARKER = /\[\[\s*(fail|fail-times|delay)\s*:([^\]]{0,100})\]\]/giu;

/** The markers of a prompt. */
export interface TestHooks {
  /** The prompt without its markers. */
  readonly prompt: string;
  readonly delayMs: number;
  /** `times` is how many attempts fail; Infinity for `[[fail:…]]`. */
  readonly failures: readonly { readonly kind: (typeof FAILURE_KINDS)[number]; readonly times: number }[];
}

/** Reads and removes the markers. An unknown marker stays in the prompt as plain text. */
export function readTestHooks(prompt: string): TestHooks {
  let delayMs = 0;
  const failures: { kind: (typeof FAILURE_KINDS)[number]; times: number }[] = [];
  const rest = prompt.replace(MARKER, (marker, name: string, argument: string) => {
    if (name.toLowerCase() === "delay") {
      const seconds = Number(argument);
      if (argument.trim() === "" || !Number.isFinite(seconds) || seconds < 0) return marker;
      delayMs += seconds * 1_000;
      return " ";
    }
    const [first = "", second] = argument.split(":");
    const isCounted = name.toLowerCase() === "fail-times";
    const kind = FAILURE_KINDS.find((candidate) => candidate === (isCounted ? second : first)?.trim());
    const times = isCounted ? Number.parseInt(first, 10) : Number.POSITIVE_INFINITY;
    if (kind === undefined || Number.isNaN(times)) return marker;
    failures.push({ kind, times });
    return " ";
  });
  return { prompt: rest.replace(/\s+/gu, " ").trim(), delayMs, failures };
}

/** Removes markers without applying them, so that no title shows them. */
export function withoutMarkers(prompt: string): string {
  return prompt
    .replace(/\[\[[^\]]{0,100}\]\]/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
}

/** @throws {ProviderFailure} of the first kind that this attempt is to fail with */
export function failAsRequested(hooks: TestHooks, attempt: number): void {
  const failure = hooks.failures.find(({ times }) => attempt <= times);
  if (failure !== undefined) throw new ProviderFailure(failure.kind, `asked for by a test hook (attempt ${attempt})`);
}
