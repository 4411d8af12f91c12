import { useEffect, useRef, useState } from "preact/hooks";
import { GUIDES } from "../../generated/guides.js";
import { PUBLIC_URL } from "../../parts/base.js";
import { copied } from "../../parts/copy-button.js";
import { ErrorNote } from "../../parts/elements.js";
import { View } from "../shell/view.js";

/** What the guides call this server. */
const EXAMPLE_URL = "http://127.0.0.1:8080";

interface GuideViewProps {
  readonly name: string;
  /** The heading, or the row of a table, that the address leads to. */
  readonly anchor: string | undefined;
}

/** A guide: its markup was created from Markdown when the page was built, and holds nothing from elsewhere. */
export function GuideView({ name, anchor }: GuideViewProps) {
  const guide = GUIDES.find((each) => each.name === name);
  const [markup, setMarkup] = useState<string>();
  const [error, setError] = useState<Error>();
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    import("../../generated/guide-pages.js").then(
      ({ GUIDE_PAGES }) => setMarkup(GUIDE_PAGES[name]?.replaceAll(EXAMPLE_URL, escaped(PUBLIC_URL))),
      () => setError(new Error("The guide could not be loaded. Reload the page to try again.")),
    );
  }, [name]);
  useEffect(() => {
    if (markup === undefined || anchor === undefined) return;
    const target = content.current?.querySelector<HTMLElement>(`[id="${CSS.escape(anchor)}"]`);
    target?.scrollIntoView();
    target?.focus({ preventScroll: true });
  }, [markup, anchor]);
  if (guide === undefined) {
    return (
      <View title="Not found">
        <p>There is no such guide.</p>
      </View>
    );
  }
  return (
    <View title={guide.title}>
      {error === undefined ? null : <ErrorNote error={error} />}
      <div
        ref={content}
        class="guide"
        onClick={(event) => void copyCode(event.target as Element)}
        dangerouslySetInnerHTML={{ __html: markup ?? "" }}
      />
    </View>
  );
}

/** A press of a button of a code block. */
async function copyCode(target: Element): Promise<void> {
  const button = target.closest("button[data-copy]");
  const code = button?.parentElement?.querySelector("pre")?.textContent;
  if (button === null || code === undefined || code === null) return;
  button.textContent = (await copied(code)) ? "Copied" : "Select it and copy";
  setTimeout(() => (button.textContent = "Copy"), 2_000);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
