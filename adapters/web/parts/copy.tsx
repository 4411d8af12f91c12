import { useState } from "preact/hooks";
import { Icon } from "./icons.js";
import { say } from "./toast.js";

/** Puts a text on the clipboard. @param what it is, for those who do not see it: `the key` */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      say(`Copied ${what}.`);
    } catch {
      // Over plain http from another machine there is no clipboard.
      say("The browser does not let this page copy here: select the text instead.", "bad");
    }
  };
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => void copy()}
    >
      <Icon name={isDone ? "check" : "copy"} />
    </button>
  );
}
