import { useEffect, useRef } from "preact/hooks";
import { BASE_URL, VERSION } from "../../parts/base.js";
import { ErrorNote } from "../../parts/elements.js";
import { Mark } from "../../parts/icons.js";
import { route } from "../../parts/route.js";
import { type Description, description, findOperation } from "../description/description.js";
import { OperationView } from "../description/operation-view.js";
import { GuideView } from "../guides/guide-view.js";
import { Contents } from "./contents.js";
import { Home } from "./home.js";
import { View } from "./view.js";

/** What stays around every view, and the view that the address names. */
export function Shell() {
  const menu = useRef<HTMLDetailsElement>(null);
  const state = description.value;
  const found = state instanceof Error ? undefined : state;
  const { parts } = route.value;
  // On a narrow screen the contents are in front of the page.
  useEffect(() => menu.current?.removeAttribute("open"), [parts]);
  return (
    <div class="shell">
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector("h1")?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="#/">
          <Mark />
          <span>
            Fermata
            <small>API</small>
          </span>
        </a>
        <details ref={menu} class="menu">
          <summary>Contents</summary>
          <nav aria-label="Contents">
            <Contents found={found} />
          </nav>
        </details>
      </header>
      <nav class="side" aria-label="Contents">
        <Contents found={found} />
        <p class="about soft">
          Fermata {VERSION} · <a href={`${BASE_URL}openapi.json`}>openapi.json</a>
        </p>
      </nav>
      <main id="content">
        {state instanceof Error ? <ErrorNote error={state} /> : null}
        <Page found={found} />
      </main>
    </div>
  );
}

function Page({ found }: { readonly found: Description | undefined }) {
  const [kind, id = "", anchor] = route.value.parts;
  if (kind === undefined) return <Home found={found} />;
  if (kind === "guides") return <GuideView key={id} name={id} anchor={anchor} />;
  if (kind !== "operations" && kind !== "events") return <NotFound />;
  if (found === undefined) return null;
  const operation = findOperation(found, id, kind === "events");
  if (operation === undefined) return <NotFound />;
  return <OperationView key={`${kind}/${id}`} operation={operation} document={found.document} />;
}

function NotFound() {
  return (
    <View title="Not found">
      <p>
        There is no such part of this page. <a href="#/">Go to the beginning</a>.
      </p>
    </View>
  );
}
