import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

interface ViewProps {
  /** Its heading, and the title of the page. */
  readonly title: string;
  /** Where the heading stands for something with a name of its own: what the page's title says. */
  readonly kind?: string;
  /** Behind the title, on its line. */
  readonly aside?: ComponentChildren;
  /** Below the title. */
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** The view that it belongs to. */
  readonly parent?: { readonly label: string; readonly href: string };
  readonly children: ComponentChildren;
}

let shown = 0;

/** One view: whenever it comes in place of another its heading has the focus, so that it is read out. */
export function View({ title, kind, aside, lead, actions, parent, children }: ViewProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (shown++ > 0) {
      heading.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  }, []);
  useLayoutEffect(() => {
    document.title = `${kind === undefined ? "" : `${kind} `}${title} · Fermata console`;
  }, [title, kind]);
  return (
    <div class="view">
      <header class="view-head">
        <div>
          {parent === undefined ? null : (
            <a class="parent" href={parent.href}>
              {parent.label}
            </a>
          )}
          <div class="title">
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {aside}
          </div>
          {lead === undefined ? null : <div class="lead">{lead}</div>}
        </div>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A part of a view, under a heading of its own. */
export function Section({
  title,
  actions,
  lead,
  children,
}: Pick<ViewProps, "title" | "actions" | "lead"> & { readonly children?: ComponentChildren }) {
  return (
    <section class="section">
      <header>
        <div>
          <h2>{title}</h2>
          {lead === undefined ? null : <p class="lead">{lead}</p>}
        </div>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
