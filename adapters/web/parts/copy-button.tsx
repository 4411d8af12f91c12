import { useEffect, useState } from "preact/hooks";
import { Button } from "./elements.js";

interface CopyButtonProps {
  /** Asked for when the button is pressed. */
  readonly text: () => string;
  readonly label: string;
  readonly onCopied?: () => void;
}

const SHOWN_MS = 2_000;

export function CopyButton({ text, label, onCopied }: CopyButtonProps) {
  const [outcome, setOutcome] = useState("");
  useEffect(() => {
    if (outcome === "") return;
    const timer = setTimeout(() => setOutcome(""), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => {
    setOutcome((await copied(text())) ? "Copied" : "Select it and copy");
    onCopied?.();
  };
  return (
    <Button onClick={() => void copy()}>
      <span aria-live="polite">{outcome === "" ? label : outcome}</span>
    </Button>
  );
}

/** Over plain http from another machine browsers have no clipboard for pages, but still copy what is selected. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  }
}
