import type { ComponentChildren } from "preact";

export type Tone = "neutral" | "good" | "warn" | "bad" | "busy";

/** A state in a word; its sign differs with its tone, so that it is seen without colours. */
export function Badge({ tone = "neutral", children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <path d={SIGNS[tone]} />
      </svg>
      {children}
    </span>
  );
}

const SIGNS: Readonly<Record<Tone, string>> = {
  neutral: "M2 5h6",
  good: "M1.5 5.5 4 8l4.5-6",
  warn: "M5 1.5v4M5 8v.2",
  bad: "m2 2 6 6m0-6-6 6",
  busy: "M5 1.5a3.5 3.5 0 1 1-3.5 3.5",
};
