import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

let shown = 0;

/** What the address names, under its heading; whenever it comes in place of another, the heading has the focus. */
export function View({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Fermata API`;
    if (shown++ === 0) return;
    heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [title]);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </>
  );
}

/** Paragraphs of the description, with `code` in them. */
export function Prose({ text }: { readonly text: string | undefined }) {
  if (text === undefined || text === "") return null;
  return (
    <div class="prose">
      {text.split(/\n\s*\n/).map((paragraph) => (
        <p key={paragraph}>
          <Words text={paragraph} />
        </p>
      ))}
    </div>
  );
}

/** A line of the description, with `code` in it. */
export function Words({ text }: { readonly text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}
