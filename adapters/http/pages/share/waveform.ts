import { html, type Markup } from "./html.js";

const BARS = 88;
const BAR_STEP = 4;
const HEIGHT = 64;
const BAR_MIN = 3;
/** Stretches the range of loudness: most music is loud most of the time. */
const CONTRAST = 1.8;

/** A waveform as bars, for the page to colour and to stretch; without one, all bars are alike. */
export function drawWaveform(waveform: readonly number[] | null): Markup {
  const path = Array.from({ length: BARS }, (_, bar) => {
    const height = Math.max(BAR_MIN, Math.round((HEIGHT - 4) * levelOf(waveform ?? [], bar) ** CONTRAST));
    return `M${bar * BAR_STEP + BAR_STEP / 2} ${(HEIGHT - height) / 2}v${height}`;
  }).join("");
  const layer = (
    name: string,
  ): Markup => html`<svg class="${name}" viewBox="0 0 ${BARS * BAR_STEP} ${HEIGHT}" preserveAspectRatio="none"
            aria-hidden="true" focusable="false"><path d="${path}"/></svg>`;
  return html`${layer("rest")}
          ${layer("played")}`;
}

/** The mean of the points under a bar, from 0 to 1. */
function levelOf(points: readonly number[], bar: number): number {
  const start = Math.floor((bar * points.length) / BARS);
  const under = points.slice(start, Math.max(start + 1, Math.floor(((bar + 1) * points.length) / BARS)));
  return under.length === 0 ? 0 : under.reduce((sum, point) => sum + point, 0) / under.length / 255;
}
