import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, dataOf } from "../../parts/api-error.js";
import { Button } from "../../parts/elements.js";
import { clockTime } from "../../parts/format.js";
import { api } from "../api.js";
import { CodePanel } from "./code-panel.js";
import { IDEAS } from "./ideas.js";
import {
  isInstrumental,
  duration,
  issues,
  leavesChoice,
  lyrics,
  model,
  models,
  prompt,
  request,
  secondsFor,
  takesLyrics,
} from "./form.js";
import { ModelChoice } from "./model-choice.js";
import { Options } from "./options.js";
import { createGeneration } from "../music/generations.js";
import { priceOf } from "./price.js";
import { refreshCredits } from "../shell/credits.js";
import { wordsOf } from "../words.js";

/** What to make, and the button that does. */
export function Composer() {
  const form = useRef<HTMLFormElement>(null);
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  /** Issues are shown once it was tried. */
  const [wasTried, setTried] = useState(false);

  const loadModels = (): void => {
    setError(null);
    dataOf(api.GET("/api/v1/models")).then(({ models: all }) => (models.value = all), setError);
  };
  useEffect(loadModels, []);

  const create = async (): Promise<void> => {
    setTried(true);
    const asked = request.value;
    if (asked === null || isBusy) return;
    if (Object.keys(issues.value).length > 0) {
      form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await createGeneration(asked);
      setTried(false);
      showNewest();
    } catch (reason) {
      setError(reason as Error);
      if (reason instanceof ApiError && reason.code === "insufficient_credits") void refreshCredits();
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    if (wasTried) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [wasTried]);

  const chosen = model.value;
  const shownIssues = wasTried ? issues.value : {};
  return (
    <form
      ref={form}
      class="card composer"
      aria-label="New track"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void create();
      }}
    >
      <PromptField issue={shownIssues["prompt"]} />
      {chosen === undefined ? null : (
        <>
          <ModelChoice chosen={chosen} />
          {leavesChoice(chosen) ? <VoiceChoice /> : null}
          {takesLyrics(chosen) ? <LyricsField isNeeded={chosen.requires_lyrics} issue={shownIssues["lyrics"]} /> : null}
          {chosen.duration === undefined ? null : (
            <DurationField {...chosen.duration} seconds={secondsFor(chosen) ?? chosen.duration.minimum} />
          )}
          <Options model={chosen} issues={shownIssues} />
        </>
      )}
      {error === null ? null : (
        <p class="note bad" role="alert">
          {wordsOf(error)}
          {models.value.length > 0 ? null : (
            <button type="button" class="link" onClick={loadModels}>
              Try again
            </button>
          )}
        </p>
      )}
      <Button look="primary" type="submit" isBusy={isBusy} disabled={chosen === undefined}>
        {isBusy ? "Sending…" : "Create"}
        {chosen === undefined ? null : <span class="price">{priceOf(chosen.credit_cost)}</span>}
      </Button>
      <CodePanel />
    </form>
  );
}

/** On a phone the list is below the form. */
function showNewest(): void {
  requestAnimationFrame(() => document.querySelector(".cards > :first-child")?.scrollIntoView({ block: "nearest" }));
}

function PromptField({ issue }: { readonly issue: string | undefined }) {
  const field = useRef<HTMLTextAreaElement>(null);
  return (
    <div class="field prompt">
      <label for="prompt">What would you like to hear?</label>
      <textarea
        ref={field}
        id="prompt"
        rows={3}
        placeholder="A mood, instruments, a place, a time of day …"
        value={prompt.value}
        aria-invalid={issue !== undefined}
        aria-describedby="prompt-issue"
        onInput={(event) => (prompt.value = event.currentTarget.value)}
      />
      <span class="issue" id="prompt-issue" role="alert">
        {issue}
      </span>
      <ul class="ideas" aria-label="Ideas">
        {IDEAS.map((idea) => (
          <li key={idea.name}>
            <button
              type="button"
              class="chip"
              onClick={() => {
                prompt.value = idea.prompt;
                field.current?.focus();
              }}
            >
              {idea.name}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function VoiceChoice() {
  const choices = [
    { name: "With a voice", value: false },
    { name: "Instrumental", value: true },
  ] as const;
  return (
    <fieldset class="choice">
      <legend>Voice</legend>
      <div class="segments">
        {choices.map(({ name, value }) => (
          <label key={name}>
            <input
              type="radio"
              name="voice"
              checked={isInstrumental.value === value}
              onChange={() => (isInstrumental.value = value)}
            />
            <span>{name}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function LyricsField({ isNeeded, issue }: { readonly isNeeded: boolean; readonly issue: string | undefined }) {
  return (
    <div class="field">
      <label for="lyrics">Lyrics {isNeeded ? null : <span class="soft">(optional)</span>}</label>
      <textarea
        id="lyrics"
        rows={4}
        placeholder={"[Verse]\nRain on the tin roof, no light at home"}
        value={lyrics.value}
        aria-invalid={issue !== undefined}
        aria-describedby="lyrics-issue"
        onInput={(event) => (lyrics.value = event.currentTarget.value)}
      />
      <span class="issue" id="lyrics-issue" role="alert">
        {issue}
      </span>
    </div>
  );
}

interface DurationProps {
  readonly minimum: number;
  readonly maximum: number;
  readonly seconds: number;
}

function DurationField({ minimum, maximum, seconds }: DurationProps) {
  return (
    <div class="field length">
      <label for="duration">Length</label>
      <output for="duration">{clockTime(seconds)}</output>
      <input
        id="duration"
        type="range"
        min={minimum}
        max={maximum}
        step={1}
        value={seconds}
        aria-valuetext={clockTime(seconds)}
        onInput={(event) => (duration.value = Number(event.currentTarget.value))}
      />
    </div>
  );
}
