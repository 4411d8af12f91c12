import { useEffect, useState } from "preact/hooks";
import { clockTime } from "../../parts/format.js";
import { here, type JobOutput, type Track } from "../api.js";
import { barsOf } from "../player/bars.js";
import { fileNameOf } from "../music/file-name.js";
import { Icon } from "../shell/icons.js";
import { Mixer } from "./mixer.js";
import { PlayButton } from "../player/play-button.js";
import { Waveform } from "../player/waveform.js";

interface MixerViewProps {
  readonly title: string;
  readonly track: Track;
  readonly outputs: readonly JobOutput[];
}

/** The parts of a track, in step and each with its own level. */
export function MixerView({ title, track, outputs }: MixerViewProps) {
  const [mixer, setMixer] = useState<Mixer | "unavailable" | null>(null);
  useEffect(() => {
    const gone = new AbortController();
    let opened: Mixer | null = null;
    Mixer.open(outputs, gone.signal).then(
      (loaded) => {
        opened = loaded;
        if (gone.signal.aborted) loaded.close();
        else setMixer(loaded);
      },
      () => {
        if (!gone.signal.aborted) setMixer("unavailable");
      },
    );
    return () => {
      gone.abort();
      opened?.close();
    };
  }, [outputs]);

  return (
    <div class="mixer" role="group" aria-label={`${title} of ${track.title}`}>
      {mixer === null ? <p class="soft">Loading the parts…</p> : null}
      {mixer === "unavailable" ? <SingleParts outputs={outputs} /> : null}
      {mixer instanceof Mixer ? <Desk title={title} track={track} mixer={mixer} /> : null}
    </div>
  );
}

function Desk({ title, track, mixer }: { readonly title: string; readonly track: Track; readonly mixer: Mixer }) {
  const [position, duration] = [mixer.position.value, mixer.duration.value];
  return (
    <>
      <div class="transport">
        <PlayButton what={title.toLowerCase()} isPlaying={mixer.isPlaying.value} onClick={() => mixer.toggle()} />
        <h4>{title}</h4>
        <span class="times" aria-hidden="true">
          {clockTime(position)} / {clockTime(duration)}
        </span>
      </div>
      <Waveform
        label={`Position in ${title.toLowerCase()}`}
        points={sumOf(mixer)}
        position={position}
        duration={duration}
        isPlaying={mixer.isPlaying.value}
        exact={() => mixer.exactPosition()}
        onSeek={(seconds) => mixer.seek(seconds)}
        onToggle={() => mixer.toggle()}
      />
      <ul class="strips">
        {mixer.stems.value.map((stem, index) => (
          <li key={index} class={mixer.isHeard(stem) ? "strip" : "strip silent"}>
            <span class="label">{stem.label}</span>
            <Thumbnail points={stem.points} />
            <button
              type="button"
              class="toggle"
              aria-pressed={stem.isMuted}
              onClick={() => mixer.change(index, { isMuted: !stem.isMuted })}
            >
              Mute<span class="visually-hidden"> {stem.label}</span>
            </button>
            <button
              type="button"
              class="toggle"
              aria-pressed={stem.isSolo}
              onClick={() => mixer.change(index, { isSolo: !stem.isSolo })}
            >
              Solo<span class="visually-hidden"> {stem.label}</span>
            </button>
            <input
              type="range"
              min={0}
              max={100}
              value={Math.round(stem.volume * 100)}
              aria-label={`Volume of ${stem.label}`}
              onInput={(event) => mixer.change(index, { volume: Number(event.currentTarget.value) / 100 })}
            />
            <a class="save" href={stem.url} download={fileNameOf(`${track.title} (${stem.label})`)}>
              <Icon name="download" />
              <span class="visually-hidden">Download {stem.label}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** What of the parts is heard, together. */
function sumOf(mixer: Mixer): number[] {
  const heard = mixer.stems.value.filter((stem) => mixer.isHeard(stem));
  const points = heard[0]?.points.map((_, at) => Math.max(...heard.map((stem) => stem.points[at] ?? 0)));
  return points ?? [];
}

const BARS = 48;

function Thumbnail({ points }: { readonly points: readonly number[] }) {
  const path = barsOf(points, BARS)
    .map((level, bar) => `M${bar * 2 + 1} ${12 - Math.max(1, 11 * level)}v${2 * Math.max(1, 11 * level)}`)
    .join("");
  return (
    <svg class="thumbnail" viewBox={`0 0 ${BARS * 2} 24`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** Where the files cannot be read by the page, such as in a bucket that does not allow it, each plays alone. */
function SingleParts({ outputs }: { readonly outputs: readonly JobOutput[] }) {
  return (
    <>
      <p class="soft">The parts cannot be mixed in this browser. Each can be heard alone.</p>
      <ul class="strips">
        {outputs.map(({ label, url }, index) => (
          <li key={index} class="strip single">
            <span class="label">{label}</span>
            <audio controls preload="none" src={here(url)} aria-label={label} />
          </li>
        ))}
      </ul>
    </>
  );
}
