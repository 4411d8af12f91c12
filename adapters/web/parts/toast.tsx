import { signal } from "@preact/signals";

interface Said {
  readonly text: string;
  readonly tone: "good" | "bad";
}

const said = signal<Said | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;
const SHOWN_MS = 8_000;

/** Says what an action came to: shown for a while, and read out. */
export function say(text: string, tone: Said["tone"] = "good"): void {
  said.value = { text, tone };
  clearTimeout(timer);
  timer = setTimeout(() => (said.value = null), SHOWN_MS);
}

/** Where it is said: once in a page, from its beginning on. */
export function Toasts() {
  const { value } = said;
  return (
    <div class="toasts" role="status">
      {value === null ? null : <p class={`toast ${value.tone}`}>{value.text}</p>}
    </div>
  );
}
