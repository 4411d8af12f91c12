import { useState } from "preact/hooks";
import { dataOf } from "../../parts/api-error.js";
import { Button } from "../../parts/elements.js";
import { api, type Track } from "../api.js";
import { CopyButton } from "../../parts/copy-button.js";
import { replaceTrack } from "./generations.js";
import { current, stop } from "../player/player.js";
import { wordsOf } from "../words.js";

/** Opens the public page of a track, and closes it again. */
export function SharePanel({ track }: { readonly track: Track }) {
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { id, share_url: url } = track;

  const run = async (change: () => Promise<Track>): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      replaceTrack(await change());
    } catch (reason) {
      setError(reason as Error);
    } finally {
      setBusy(false);
    }
  };
  const params = { path: { id } };
  const share = (): Promise<Track> => dataOf(api.POST("/api/v1/tracks/{id}/share", { params }));
  const unshare = async (): Promise<Track> => {
    const changed = await dataOf(api.DELETE("/api/v1/tracks/{id}/share", { params }));
    // The links that it was playing from have ended.
    if (current.value?.id === id) stop();
    return changed;
  };

  return (
    <section class="panel" aria-label={`Share ${track.title}`}>
      {url === null ? (
        <div class="row">
          <p>A page with a player, for everyone who has its link.</p>
          <Button look="primary" isBusy={isBusy} onClick={() => void run(share)}>
            Create a public page
          </Button>
        </div>
      ) : (
        <>
          <div class="row">
            <input readOnly value={url} aria-label="Link" onFocus={(event) => event.currentTarget.select()} />
            <CopyButton label="Copy link" text={() => url} />
          </div>
          <div class="row">
            <a href={url} target="_blank" rel="noopener">
              Open the page
            </a>
            <button type="button" class="link" aria-disabled={isBusy} onClick={() => isBusy || void run(unshare)}>
              Stop sharing
            </button>
          </div>
        </>
      )}
      {error === null ? null : (
        <p class="note bad" role="alert">
          {wordsOf(error)}
        </p>
      )}
    </section>
  );
}
