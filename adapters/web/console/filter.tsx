import type { ComponentChildren } from "preact";
import { navigate } from "../parts/route.js";
import { Icon } from "../parts/icons.js";

/** An address with these parameters changed; empty ones are left out, and so is the page. */
export function withQuery(path: string, query: URLSearchParams, changes: Readonly<Record<string, string>>): string {
  const changed = new URLSearchParams(query);
  changed.delete("after");
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") changed.delete(name);
    else changed.set(name, value);
  }
  const text = changed.toString();
  return text === "" ? path : `${path}?${text}`;
}

interface FilterProps {
  /** The view's path, `/jobs`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export function Filters({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <form class="filters" role="search" aria-label={label} onSubmit={(event) => event.preventDefault()}>
      {children}
    </form>
  );
}

/** A choice that the address remembers. */
export function Choice({
  path,
  query,
  name,
  label,
  choices,
}: FilterProps & {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly (readonly [value: string, words: string])[];
}) {
  const current = query.get(name) ?? "";
  return (
    <label>
      <span>{label}</span>
      <select
        value={current}
        onChange={(event) => navigate(withQuery(path, query, { [name]: event.currentTarget.value }))}
      >
        {choices.map(([value, words]) => (
          <option key={value} value={value} selected={value === current}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A text that the address remembers once it has been entered. */
export function Search({
  path,
  query,
  name,
  label,
  hint,
}: FilterProps & { readonly name: string; readonly label: string; readonly hint: string }) {
  const current = query.get(name) ?? "";
  return (
    <label class="search">
      <span>{label}</span>
      <span class="search-box">
        <Icon name="search" />
        <input
          key={current}
          type="search"
          defaultValue={current}
          placeholder={hint}
          onChange={(event) => navigate(withQuery(path, query, { [name]: event.currentTarget.value.trim() }))}
        />
      </span>
    </label>
  );
}

/** Of a list that is read page by page: where its first and its next page are. */
export function pagesOf(
  path: string,
  query: URLSearchParams,
  rows: readonly { readonly id: string }[] | undefined,
  limit: number,
): { readonly first: string | null; readonly next: string | null } {
  const last = rows?.at(-1);
  return {
    first: query.has("after") ? `#${withQuery(path, query, {})}` : null,
    next: last !== undefined && rows?.length === limit ? `#${withQuery(path, query, { after: last.id })}` : null,
  };
}

/** The parameters that are given. */
export function given<Name extends string>(
  query: URLSearchParams,
  ...names: readonly Name[]
): Partial<Record<Name, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = query.get(name);
      return value === null || value === "" ? [] : [[name, value]];
    }),
  ) as Partial<Record<Name, string>>;
}
