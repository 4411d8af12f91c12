import { AgainButton } from "./again-button.js";
import { Fermata } from "../shell/icons.js";
import type { ShownGeneration } from "./generations.js";
import { Progress } from "./progress.js";
import { TrackCard } from "./track-card.js";
import { wordsOfFailure } from "../words.js";

/** A generation: at work, failed, or its tracks. */
export function GenerationCard({ generation }: { readonly generation: ShownGeneration }) {
  if (generation.tracks.length > 0) {
    return (
      <>
        {generation.tracks.map((track) => (
          <TrackCard key={track.id} track={track} generation={generation} />
        ))}
      </>
    );
  }
  const title = generation.request?.prompt ?? generation.model_id;
  return (
    <li class={`card generation ${generation.status}`}>
      <div class="cover blank">
        <Fermata />
      </div>
      <div class="about">
        <h3>{title}</h3>
        {generation.status === "failed" ? <Failure generation={generation} /> : <Progress generation={generation} />}
      </div>
    </li>
  );
}

function Failure({ generation: { error, request } }: { readonly generation: ShownGeneration }) {
  return (
    <>
      <p class="note bad">
        {error === undefined ? "It failed." : wordsOfFailure(error)} Your credits were refunded.
        {error === undefined ? null : <small> ({error.request_id})</small>}
      </p>
      <AgainButton request={request} />
    </>
  );
}
