/**
 * What one check of an installation found. Neither text holds a secret.
 *
 * `ok`: as it should be. `warning`: it works, but not as well or as safely as it could. `failed`: it does not work, or
 * will lose something.
 */
export interface CheckResult {
  /** What was looked at, in a few words. One examination uses a name once. */
  readonly name: string;
  readonly result: "ok" | "warning" | "failed";
  /** A sentence that describes the result. */
  readonly message: string;
  /** How to fix it: the statement, the command or the setting. null when there is nothing to fix. */
  readonly fix: string | null;
}

/**
 * Looks at one technology as this process meets it: whether it is there, fit and allowed. Nothing is left changed but
 * what a start would make as well. Does not throw: an error that prevents a check is itself a check result. No setting
 * selects it: `fermata doctor` runs those of the adapters that the settings select.
 */
export type SelfCheck = () => Promise<readonly CheckResult[]>;

export function ok(name: string, message: string): CheckResult {
  return { name, result: "ok", message, fix: null };
}

export function warning(name: string, message: string, fix: string): CheckResult {
  return { name, result: "warning", message, fix: fix };
}

export function failed(name: string, message: string, fix: string): CheckResult {
  return { name, result: "failed", message, fix: fix };
}
