import { route } from "../../parts/route.js";
import { VERSION } from "../../parts/base.js";
import { Icon, Mark } from "../../parts/icons.js";
import { say } from "../../parts/toast.js";
import { ROLE_WORDS } from "../words.js";
import { type Operator, signOut } from "../session.js";
import { BAR, type Place, PLACES } from "./places.js";
import { Page } from "./page.js";

/** What stays around every view: the way between them, and who looks. */
export function Shell({ operator }: { readonly operator: Operator }) {
  const [current = ""] = route.value.parts;
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
      <nav class="side" aria-label="Console">
        <a class="brand" href="#/">
          <Mark />
          <span>
            Fermata
            <small>Console</small>
          </span>
        </a>
        {PLACES.map(({ label, places }) => (
          <div key={label} class="group" role="group" aria-label={label}>
            <span aria-hidden="true">{label}</span>
            {places.map((place) => (
              <PlaceLink key={place.name} place={place} current={current} />
            ))}
          </div>
        ))}
        <WhoAmI operator={operator} />
      </nav>
      <nav class="bar" aria-label="Console">
        {PLACES.flatMap(({ places }) => places.filter(({ name }) => BAR.includes(name))).map((place) => (
          <PlaceLink key={place.name} place={place} current={current} />
        ))}
        <button
          type="button"
          popovertarget="more"
          aria-current={BAR.includes(current) ? undefined : "true"}
          aria-label="More"
        >
          <Icon name="more" />
          More
        </button>
        <div
          id="more"
          class="sheet"
          popover="auto"
          onClick={(event) => {
            if (event.target instanceof Element && event.target.closest("a, button") !== null)
              event.currentTarget.hidePopover();
          }}
        >
          {PLACES.flatMap(({ places }) => places.filter(({ name }) => !BAR.includes(name))).map((place) => (
            <PlaceLink key={place.name} place={place} current={current} />
          ))}
          <WhoAmI operator={operator} />
        </div>
      </nav>
      <main id="content">
        <Page />
      </main>
    </div>
  );
}

function PlaceLink({ place: { name, label, icon }, current }: { readonly place: Place; readonly current: string }) {
  return (
    <a href={`#/${name}`} aria-current={name === current ? "page" : undefined}>
      <Icon name={icon} />
      {label}
    </a>
  );
}

function WhoAmI({ operator: { name, role } }: { readonly operator: Operator }) {
  return (
    <div class="who">
      <div>
        <strong>{name}</strong>
        <small>{ROLE_WORDS[role]}</small>
        <small>Fermata {VERSION}</small>
      </div>
      <button
        type="button"
        class="icon-button"
        aria-label="Sign out"
        title="Sign out"
        onClick={() => {
          signOut().catch((error: Error) => say(error.message, "bad"));
        }}
      >
        <Icon name="out" />
      </button>
    </div>
  );
}
