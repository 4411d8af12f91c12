import { useEffect } from "preact/hooks";
import { here } from "../api.js";
import { Composer } from "../compose/composer.js";
import { refreshCredits } from "./credits.js";
import { Header } from "./header.js";
import { Fermata } from "./icons.js";
import {
  announcement,
  clearGenerations,
  loadGenerations,
  generations,
  generationsError,
} from "../music/generations.js";
import { GenerationCard } from "../music/generation-card.js";
import { current, stop } from "../player/player.js";
import { hasCode, openSession, session } from "./session.js";
import { SignIn } from "./sign-in.js";
import { wordsOf } from "../words.js";

addEventListener("hashchange", () => {
  if (hasCode()) void openSession();
});

/** The page: one signs in, or makes music. */
export function Studio() {
  useEffect(() => void openSession(), []);
  const state = session.value;
  if (state === "opening") return null;
  return state === "open" ? <Workspace /> : <SignIn />;
}

function Workspace() {
  useEffect(() => {
    void loadGenerations();
    void refreshCredits();
    return () => {
      clearGenerations();
      stop();
    };
  }, []);
  const cover = current.value?.thumbnail_url ?? null;
  return (
    <>
      <div class="backdrop" aria-hidden="true">
        {cover === null ? null : <img key={cover} src={here(cover)} alt="" />}
      </div>
      <Header />
      <main class="workspace">
        <h1 class="visually-hidden">Studio</h1>
        <Composer />
        <Generations />
      </main>
      <p class="visually-hidden" role="status">
        {announcement.value}
      </p>
    </>
  );
}

function Generations() {
  const all = generations.value;
  const error = generationsError.value;
  return (
    <section class="generations" aria-labelledby="generations-heading">
      <h2 id="generations-heading">Your music</h2>
      {error === null ? null : (
        <p class="note bad" role="alert">
          {wordsOf(error)}{" "}
          <button type="button" class="link" onClick={() => void loadGenerations()}>
            Try again
          </button>
        </p>
      )}
      {all !== null && all.length === 0 ? <Nothing /> : null}
      <ul class="cards">
        {(all ?? []).map((generation) => (
          <GenerationCard key={generation.id} generation={generation} />
        ))}
      </ul>
    </section>
  );
}

function Nothing() {
  return (
    <div class="card nothing">
      <div class="cover blank">
        <Fermata />
      </div>
      <div>
        <p class="big">Nothing here yet.</p>
        <p class="soft">Say what you would like to hear, and press Create. The first track takes a few seconds.</p>
      </div>
    </div>
  );
}
