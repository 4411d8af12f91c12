import { GUIDES } from "../../generated/guides.js";
import { PUBLIC_URL } from "../../parts/base.js";
import type { Description } from "../description/description.js";
import { addressOf } from "../description/operations.js";
import { Method } from "./contents.js";
import { Prose, View, Words } from "./view.js";

/** Where a reader begins: the guides, and all that can be called. */
export function Home({ found }: { readonly found: Description | undefined }) {
  return (
    <View title="Fermata API">
      <Prose text={found?.document.info.description} />
      <p>
        Requests go to <code>{PUBLIC_URL}/api/v1</code>, with an API key in <code>Authorization: Bearer frm_…</code>.
        Every operation has a form here to try it, and code to copy.
      </p>
      <ul class="cards">
        {GUIDES.map(({ name, title, summary }) => (
          <li key={name} class="card">
            <a href={`#/guides/${name}`}>{title}</a>
            <p class="soft">{summary}</p>
          </li>
        ))}
      </ul>
      {(found?.groups ?? []).map(({ name, description, operations }) => (
        <section key={name} class="part">
          <h2>{name}</h2>
          <p class="soft">
            <Words text={description} />
          </p>
          <ul class="card list">
            {operations.map((operation) => (
              <li key={operation.id}>
                <a href={addressOf(operation)}>{operation.summary ?? operation.path}</a>
                <span class="call">
                  <Method method={operation.method} /> <code>{operation.path}</code>
                </span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </View>
  );
}
