import { Fermata, Icon } from "./icons.js";
import { useRequest } from "./form.js";
import type { Piece } from "./pieces.js";
import { Progress } from "./progress.js";
import { TrackCard } from "./track-card.js";
import { wordsOfFailure } from "./words.js";

/** A generation: at work, failed, or its tracks. */
export function PieceCard({ piece }: { readonly piece: Piece }) {
  if (piece.tracks.length > 0) {
    return (
      <>
        {piece.tracks.map((track) => (
          <TrackCard key={track.id} track={track} piece={piece} />
        ))}
      </>
    );
  }
  const title = piece.request?.prompt ?? piece.model_id;
  return (
    <li class={`card piece ${piece.status}`}>
      <div class="cover blank">
        <Fermata />
      </div>
      <div class="about">
        <h3>{title}</h3>
        {piece.status === "failed" ? <Failure piece={piece} /> : <Progress piece={piece} />}
      </div>
    </li>
  );
}

function Failure({ piece: { error, request } }: { readonly piece: Piece }) {
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

/** Puts what was asked for back into the form. */
export function AgainButton({ request }: Pick<Piece, "request">) {
  if (request === undefined) return null;
  return (
    <button
      type="button"
      class="action"
      onClick={() => {
        useRequest(request);
        const field = document.getElementById("prompt");
        field?.focus();
        field?.scrollIntoView({ block: "center" });
      }}
    >
      <Icon name="again" /> Use again
    </button>
  );
}
