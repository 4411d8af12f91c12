import { useSignal } from "@preact/signals";
import { GUIDES } from "../../generated/guides.js";
import { Icon } from "../../parts/icons.js";
import { route } from "../../parts/route.js";
import type { Description } from "../description/description.js";
import { addressOf, type Operation, textOf } from "../description/operations.js";

interface Entry {
  readonly href: string;
  readonly label: string;
  readonly method?: string;
}

/** All there is, by groups; a search leaves what has every word of it. */
export function Contents({ found }: { readonly found: Description | undefined }) {
  const search = useSignal("");
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hasAll = (text: string): boolean => words.every((word) => text.includes(word));
  const guides = GUIDES.filter(({ text }) => hasAll(text)).map(({ name, title }) => ({
    href: `#/guides/${name}`,
    label: title,
  }));
  const groups = [
    { name: "Guides", entries: guides as readonly Entry[] },
    ...(found?.groups ?? []).map(({ name, operations }) => ({
      name,
      entries: operations.filter((each) => hasAll(textOf(each))).map(entryOf),
    })),
  ].filter(({ entries }) => entries.length > 0);
  const count = groups.reduce((sum, { entries }) => sum + entries.length, 0);
  return (
    <>
      <label class="search-box">
        <span class="visually-hidden">Search</span>
        <Icon name="search" />
        <input
          type="search"
          placeholder="Search"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
      </label>
      <p class={count === 0 ? "soft" : "visually-hidden"} role="status">
        {words.length === 0 ? "" : count === 0 ? "Nothing has all of these words." : `${count} found`}
      </p>
      {groups.map(({ name, entries }) => (
        <div key={name} class="group" role="group" aria-label={name}>
          <span aria-hidden="true">{name}</span>
          {entries.map((entry) => (
            <EntryLink key={entry.href} entry={entry} />
          ))}
        </div>
      ))}
    </>
  );
}

function entryOf(operation: Operation): Entry {
  const { isEvent, method, summary, path } = operation;
  return { href: addressOf(operation), label: summary ?? path, ...(isEvent ? {} : { method }) };
}

function EntryLink({ entry: { href, label, method } }: { readonly entry: Entry }) {
  const [kind = "", id = ""] = route.value.parts;
  const isCurrent = href === `#/${kind}/${encodeURIComponent(id)}`;
  return (
    <a href={href} aria-current={isCurrent ? "page" : undefined}>
      {method === undefined ? null : <Method method={method} />}
      <span>{label}</span>
    </a>
  );
}

export function Method({ method }: { readonly method: string }) {
  return <code class={`method ${method.toLowerCase()}`}>{method === "DELETE" ? "DEL" : method}</code>;
}
