import type { RateDecision, WindowRule, WindowState } from "../ports/rate-limiter.js";
import { windowStatus } from "./window.js";

/** @param states one per rule, as of `now` */
export function rateDecision(
  allowed: boolean,
  states: readonly WindowState[],
  rules: readonly WindowRule[],
  now: number,
): RateDecision {
  return { allowed, windows: rules.map((rule, index) => windowStatus(states[index] as WindowState, rule, now)) };
}

/** Whether one more request passes: every window has capacity. @param states one per rule, as of now */
export function allHaveCapacity(states: readonly WindowState[], rules: readonly WindowRule[]): boolean {
  for (let index = 0; index < rules.length; index++)
    if ((states[index] as WindowState).count >= (rules[index] as WindowRule).limit) return false;
  return true;
}
