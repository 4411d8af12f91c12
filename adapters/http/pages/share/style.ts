/** The style of the page: light or dark as the reader has it, from a small phone up. */
export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --ground: #f3f1ee;
  --paper: #fffffff0;
  --ink: #17151c;
  --soft: #5b5763;
  --faint: #17151c38;
  --edge: #17151c14;
  --shadow: 0 1.5rem 4rem #2a1f3b33;
  --veil: #f3f1ee8c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e0d12;
    --paper: #1a181ff0;
    --ink: #f6f3f8;
    --soft: #b5afbf;
    --faint: #f6f3f840;
    --edge: #ffffff1c;
    --shadow: 0 1.5rem 4rem #000000a6;
    --veil: #0e0d1280;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0;
  min-height: 100vh;
  min-height: 100svh;
  display: grid;
  place-items: center;
  padding: clamp(0.75rem, 4vw, 3rem);
  overflow-x: hidden;
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
}
.backdrop {
  position: fixed;
  inset: -22vmax;
  z-index: -2;
  width: calc(100% + 44vmax);
  height: calc(100% + 44vmax);
  object-fit: cover;
  filter: blur(5rem) saturate(1.5);
}
body::before { content: ""; position: fixed; inset: 0; z-index: -1; background: var(--veil); }
.card {
  display: grid;
  gap: clamp(1.25rem, 4vw, 2.5rem);
  width: min(100%, 25rem);
  padding: clamp(1rem, 4vw, 2rem);
  border: 1px solid var(--edge);
  border-radius: 1.75rem;
  background: var(--paper);
  box-shadow: var(--shadow);
}
.cover {
  display: grid;
  place-items: center;
  aspect-ratio: 1;
  overflow: hidden;
  border-radius: 1.1rem;
  box-shadow: 0 0.75rem 2rem #00000029;
}
.blank { background: linear-gradient(150deg, #3a2f57, #b0576b 60%, #f0a868); }
.cover img { display: block; width: 100%; height: 100%; object-fit: cover; }
.fermata { width: 46%; fill: #fff5e6; }
.about { display: flex; flex-direction: column; min-width: 0; }
h1 {
  margin: 0;
  font-size: clamp(1.4rem, 5.5vw, 2rem);
  line-height: 1.15;
  letter-spacing: -0.02em;
  text-wrap: balance;
  overflow-wrap: anywhere;
}
.artist, .silent, .problem { margin: 0.4rem 0 0; color: var(--soft); overflow-wrap: anywhere; }
.silent { margin-top: 1.5rem; }
.problem { flex-basis: 100%; margin: 0; font-size: 0.9rem; }
.problem:empty { display: none; }
.player { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 1rem; margin-top: clamp(1.1rem, 4vw, 1.75rem); }
.play {
  flex: none;
  margin: 0.125rem 0 0;
  width: 3.75rem;
  height: 3.75rem;
  padding: 0;
  border: 0;
  border-radius: 50%;
  background: var(--ink);
  color: var(--ground);
  cursor: pointer;
  transition: transform 0.15s ease;
}
.play:hover { transform: scale(1.06); }
.play:active { transform: scale(0.96); }
.play svg { display: block; width: 2.1rem; margin: auto; fill: currentColor; }
.icon-pause, .playing .icon-play { display: none; }
.playing .icon-pause { display: inline; }
.track { flex: 1 1 9rem; min-width: 0; }
.wave { position: relative; height: 4rem; border-radius: 0.5rem; }
.ready .wave { cursor: pointer; touch-action: pan-y; }
.wave svg { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; }
.wave path { fill: none; stroke-width: 1.7px; stroke-linecap: round; vector-effect: non-scaling-stroke; }
.rest path { stroke: var(--faint); }
.played { clip-path: inset(0 100% 0 0); }
.played path { stroke: var(--ink); }
.times {
  display: flex;
  justify-content: space-between;
  margin-top: 0.5rem;
  color: var(--soft);
  font-size: 0.85rem;
  font-variant-numeric: tabular-nums;
}
audio { flex-basis: 100%; width: 100%; }
.ready audio { display: none; }
:focus-visible { outline: 3px solid var(--ink); outline-offset: 3px; }
.empty { text-align: center; }
.empty .cover { width: 8rem; margin: 0.5rem auto 0; border-radius: 1.75rem; }
@media (min-width: 46rem) {
  .card:not(.empty) {
    grid-template-columns: minmax(0, 17rem) minmax(0, 1fr);
    align-items: center;
    width: min(100%, 52rem);
    padding: 2rem;
  }
  .wave { height: 5rem; }
  .wave path { stroke-width: 2.4px; }
  .play { width: 4.25rem; height: 4.25rem; margin-top: 0.375rem; }
}
@media (prefers-reduced-motion: reduce) {
  .play { transition: none; }
  .play:hover, .play:active { transform: none; }
}
@media (forced-colors: active) {
  .backdrop { display: none; }
  .wave { forced-color-adjust: none; }
  .rest path { stroke: GrayText; }
  .played path { stroke: Highlight; }
  .play { border: 2px solid ButtonText; }
}
`;
