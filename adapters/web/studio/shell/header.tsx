import { wholeNumber } from "../../parts/format.js";
import { BASE_URL } from "../../parts/base.js";
import { credits } from "./credits.js";
import { clearForm } from "../compose/form.js";
import { Fermata } from "./icons.js";
import { forgetAll } from "../music/memory.js";
import { signOut } from "./session.js";

async function leave(): Promise<void> {
  await signOut();
  clearForm();
  forgetAll();
}

export function Header() {
  const left = credits.value;
  return (
    <header class="header">
      <p class="brand">
        <span class="mark">
          <Fermata />
        </span>
        <span>Fermata</span>
      </p>
      <nav aria-label="Account">
        <p class="credits" role="status" aria-label="Credits">
          {left === null ? null : (
            <>
              <b>{wholeNumber(left)}</b> {left === 1 ? "credit" : "credits"} <span class="wide">left</span>
            </>
          )}
        </p>
        <a class="quiet" href={`${BASE_URL}docs`}>
          API<span class="wide"> docs</span>
        </a>
        <button type="button" class="quiet" onClick={() => void leave()}>
          Sign out
        </button>
      </nav>
    </header>
  );
}
