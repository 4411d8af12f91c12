import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { clockTime } from "../../parts/format.js";
import { barsOf } from "./bars.js";

const BARS = 96;
const STEP = 4;
const HEIGHT = 64;
const STEP_SECONDS = 5;
const STILLNESS = matchMedia("(prefers-reduced-motion: reduce)");

interface WaveformProps {
  readonly label: string;
  /** Loudness along the track, 0 to 255; without it all bars are alike. */
  readonly points: readonly number[] | null;
  /** Seconds. */
  readonly position: number;
  readonly duration: number;
  readonly isPlaying: boolean;
  /** The position of this very moment, for drawing. */
  readonly exact: () => number;
  readonly onSeek: (seconds: number) => void;
  readonly onToggle: () => void;
}

/** A slider for the position in a track. */
export function Waveform({ label, points, position, duration, isPlaying, exact, onSeek, onToggle }: WaveformProps) {
  const played = useRef<SVGSVGElement>(null);
  const path = useMemo(() => pathOf(points), [points]);

  const draw = (seconds: number): void => {
    const share = duration > 0 ? Math.min(1, seconds / duration) : 0;
    if (played.current !== null) played.current.style.clipPath = `inset(0 ${100 - 100 * share}% 0 0)`;
  };
  useEffect(() => {
    draw(position);
    if (!isPlaying || STILLNESS.matches) return;
    let frame = requestAnimationFrame(function next() {
      draw(exact());
      frame = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, position, duration]);

  const keys: Readonly<Record<string, () => void>> = {
    ArrowRight: () => onSeek(position + STEP_SECONDS),
    ArrowUp: () => onSeek(position + STEP_SECONDS),
    ArrowLeft: () => onSeek(position - STEP_SECONDS),
    ArrowDown: () => onSeek(position - STEP_SECONDS),
    PageUp: () => onSeek(position + duration / 10),
    PageDown: () => onSeek(position - duration / 10),
    Home: () => onSeek(0),
    End: () => onSeek(duration),
    " ": onToggle,
    Enter: onToggle,
  };
  const onKey = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    if (event.altKey || event.ctrlKey || event.metaKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]?.();
  };
  const seekTo = (event: TargetedPointerEvent<HTMLDivElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    onSeek(Math.max(0, Math.min(1, (event.clientX - left) / width)) * duration);
  };
  const shown = Math.min(position, duration);
  return (
    <div
      class="wave"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={Math.round(duration)}
      aria-valuenow={Math.round(shown)}
      aria-valuetext={`${clockTime(shown)} of ${clockTime(duration)}`}
      onKeyDown={onKey}
      onPointerDown={(event) => {
        if (event.button !== 0 || duration <= 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        seekTo(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) seekTo(event);
      }}
    >
      {(["rest", "played"] as const).map((layer) => (
        <svg
          key={layer}
          ref={layer === "played" ? played : null}
          class={layer}
          viewBox={`0 0 ${BARS * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <path d={path} />
        </svg>
      ))}
    </div>
  );
}

function pathOf(points: readonly number[] | null): string {
  return barsOf(points ?? [], BARS)
    .map((level, bar) => {
      const height = Math.max(3, Math.round((HEIGHT - 4) * level));
      return `M${bar * STEP + STEP / 2} ${(HEIGHT - height) / 2}v${height}`;
    })
    .join("");
}
