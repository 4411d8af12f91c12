import { useState } from "preact/hooks";
import { dataOf } from "../../parts/api-error.js";
import { clockTime } from "../../parts/format.js";
import { useResource } from "../../parts/resource.js";
import { api, here, type Track } from "../api.js";
import { fileNameOf } from "./file-name.js";
import { Fermata, Icon } from "../shell/icons.js";
import { AgainButton } from "./again-button.js";
import type { ShownGeneration } from "./generations.js";
import { PlayButton } from "../player/play-button.js";
import { current, duration, exactPosition, isPlaying, position, problem, seek, toggle } from "../player/player.js";
import { SharePanel } from "./share.js";
import { StemsPanel } from "../stems/stems-panel.js";
import { Waveform } from "../player/waveform.js";

type Panel = "share" | "stems";

/** A track: to listen to, to share, to split. */
export function TrackCard({ track, generation }: { readonly track: Track; readonly generation: ShownGeneration }) {
  const [panel, setPanel] = useState<Panel | null>(null);
  const { data: details } = useResource(
    (signal) => dataOf(api.GET("/api/v1/tracks/{id}/details", { params: { path: { id: track.id } }, signal })),
    [track.id],
  );
  const isCurrent = current.value?.id === track.id;
  const plays = isCurrent && isPlaying.value;
  const cover = track.thumbnail_url;
  const about = [track.artist_label, track.bpm === null ? "" : `${track.bpm} BPM`].filter((text) => text !== "");
  const pick = (name: Panel): void => setPanel(panel === name ? null : name);
  return (
    <li class={`card generation ${plays ? "playing" : ""}`}>
      <div class={`cover ${cover === null ? "blank" : ""}`}>
        {cover === null ? <Fermata /> : <img src={here(cover)} alt="" width={512} height={512} loading="lazy" />}
      </div>
      <div class="about">
        <h3>{track.title}</h3>
        <p class="soft">{about.join(" · ")}</p>
        {track.play_url === null ? null : (
          <div class="player">
            <PlayButton what={track.title} isPlaying={plays} onClick={() => toggle(track)} />
            <div class="line">
              <Waveform
                label={`Position in ${track.title}`}
                points={details?.waveform ?? null}
                position={isCurrent ? position.value : 0}
                duration={isCurrent ? duration.value : (track.duration ?? 0)}
                isPlaying={plays}
                exact={exactPosition}
                onSeek={(seconds) => seek(track, seconds)}
                onToggle={() => toggle(track)}
              />
              <div class="times" aria-hidden="true">
                <span>{clockTime(isCurrent ? position.value : 0)}</span>
                <span>{clockTime(isCurrent ? duration.value : (track.duration ?? 0))}</span>
              </div>
            </div>
          </div>
        )}
        {isCurrent && problem.value !== null ? (
          <p class="note bad" role="alert">
            {problem.value}
          </p>
        ) : null}
        <div class="actions">
          <button type="button" class="action" aria-expanded={panel === "share"} onClick={() => pick("share")}>
            <Icon name="share" /> {track.share_url === null ? "Share" : "Shared"}
          </button>
          {details === undefined || details.splits.length === 0 ? null : (
            <button type="button" class="action" aria-expanded={panel === "stems"} onClick={() => pick("stems")}>
              <Icon name="stems" /> Stems
            </button>
          )}
          {track.play_url === null ? null : (
            <a class="action" href={here(track.play_url)} download={fileNameOf(track.title)}>
              <Icon name="download" /> Download
            </a>
          )}
          <AgainButton request={generation.request} />
        </div>
      </div>
      {panel === "share" ? <SharePanel track={track} /> : null}
      {panel === "stems" && details !== undefined ? <StemsPanel track={track} offers={details.splits} /> : null}
    </li>
  );
}
