/**
 * What one check of an installation found. Neither text holds a secret.
 *
 * `ok`: as it should be. `warning`: it works, but not as well or as safely as it could. `failed`: it does not work, or will lose something.
 */
export interface Finding {
  /** What was looked at, in a few words. One examination uses a name once. */
  readonly name: string;
  readonly result: "ok" | "warning" | "failed";
  /** A sentence of what was found. */
  readonly message: string;
  /** How to mend it: the statement, the command or the setting. null when there is nothing to mend. */
  readonly mend: string | null;
}

/**
 * Looks at one technology as this process meets it: whether it is there, fit and allowed. Nothing is left changed but what a start would make
 * as well. Does not throw: what stands in the way of looking is itself a finding.
 */
export type SelfCheck = () => Promise<readonly Finding[]>;

export function ok(name: string, message: string): Finding {
  return { name, result: "ok", message, mend: null };
}

export function warning(name: string, message: string, mend: string): Finding {
  return { name, result: "warning", message, mend };
}

export function failed(name: string, message: string, mend: string): Finding {
  return { name, result: "failed", message, mend };
}
