import { Icon } from "./icons.js";

/** A part of a view that has an address of its own. */
export interface Tab {
  readonly label: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ label: text, href, isCurrent }) => (
        <a key={href} href={href} aria-current={isCurrent ? "page" : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

interface PagerProps {
  /** Addresses; null: there is no such page. */
  readonly first: string | null;
  readonly next: string | null;
  /** The words for them. */
  readonly back?: string;
  readonly on?: string;
}

/** The way through a list that is read page by page. */
export function Pager({ first, next, back = "Newest", on = "Older" }: PagerProps) {
  if (first === null && next === null) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {first === null ? (
        <span />
      ) : (
        <a class="button" href={first}>
          <Icon name="back" /> {back}
        </a>
      )}
      {next === null ? null : (
        <a class="button" href={next}>
          {on} <Icon name="next" />
        </a>
      )}
    </nav>
  );
}
