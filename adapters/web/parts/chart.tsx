import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { wholeNumber } from "./format.js";

export interface Line {
  readonly label: string;
  /** null: not known. */
  readonly values: readonly (number | null)[];
  /** Lines of a chart differ in it, so that they can be distinguished without colours. */
  readonly look: keyof typeof LOOKS;
}

interface ChartProps {
  readonly title: string;
  /** What it says, for those who do not see it. */
  readonly summary: string;
  /** The moment of each value, in seconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** Behind each number. */
  readonly unit?: string;
  /** What the legend has for a line while no moment is pointed at; the sum by default. */
  readonly figure?: (line: Line) => string;
}

/** A colour of style.css, and the dashes. */
const LOOKS = {
  main: ["--accent", []],
  good: ["--good", []],
  bad: ["--bad", [2, 3]],
  warn: ["--warn", [7, 4]],
  soft: ["--soft", [1, 4]],
} as const satisfies Readonly<Record<string, readonly [string, readonly number[]]>>;

const HEIGHT = 168;

/** Lines over time, followed as they change. Pointing at a moment shows its numbers in the legend. */
export function Chart({ title, summary, times, lines, unit = "", figure = sumOf }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  // A line that is at zero throughout would only cover the others there.
  const drawnLines = lines.filter(({ look, values }) => look === "main" || values.some((value) => value !== 0));
  const shape = drawnLines.map(({ label, look }) => `${label}:${look}`).join();

  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const drawn = new uPlot(optionsOf(drawnLines, setPointed), dataOf(times, drawnLines), element);
    plot.current = drawn;
    const fit = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: HEIGHT }));
    fit.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = (): void => drawn.redraw(false);
    scheme.addEventListener("change", redraw);
    return () => {
      fit.disconnect();
      scheme.removeEventListener("change", redraw);
      drawn.destroy();
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(dataOf(times, drawnLines)), [times, lines]);

  const at = pointed === null ? undefined : times[pointed];
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        <span class="soft">{at === undefined ? "" : clock(at)}</span>
      </figcaption>
      <div ref={frame} class="plot" role="img" aria-label={`${title}: ${summary}`} />
      <ul class="legend">
        {lines.map((line) => (
          <li key={line.label}>
            <Swatch look={line.look} />
            {line.label}{" "}
            <b>
              {pointed === null ? figure(line) : shown(line.values[pointed])}
              {unit}
            </b>
          </li>
        ))}
      </ul>
    </figure>
  );
}

function Swatch({ look }: { readonly look: Line["look"] }) {
  const [colour, dashes] = LOOKS[look];
  return (
    <svg viewBox="0 0 22 6" aria-hidden="true">
      <path d="M2 3h18" stroke={`var(${colour})`} stroke-dasharray={dashes.join(" ")} />
    </svg>
  );
}

function optionsOf(lines: readonly Line[], point: (index: number | null) => void): uPlot.Options {
  const colour = (name: string) => () => getComputedStyle(document.documentElement).getPropertyValue(name);
  const axis = { stroke: colour("--soft"), font: "12px system-ui, sans-serif", ticks: { show: false } };
  const grid = { stroke: colour("--edge"), width: 1 };
  return {
    width: 300,
    height: HEIGHT,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    scales: {
      y: { range: (_plot, _min, max) => [0, Math.max(max * 1.08, 4)] },
    },
    axes: [
      { ...axis, grid: { show: false }, space: 64, size: 26, values: (_plot, ticks) => ticks.map(clock) },
      { ...axis, grid, size: 44, space: 36, values: (_plot, ticks) => ticks.map(wholeTick) },
    ],
    series: [
      {},
      ...lines.map(({ label, look }): uPlot.Series => {
        const [name, dashes] = LOOKS[look];
        const stroke = colour(name);
        const series = { label, stroke, width: 2, dash: [...dashes], points: { show: false }, spanGaps: false };
        return look === "main" ? { ...series, fill: colour("--accent-soft") } : series;
      }),
    ],
    hooks: { setCursor: [({ cursor: { idx } }) => point(idx ?? null)] },
  };
}

function dataOf(times: readonly number[], lines: readonly Line[]): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])];
}

/** `14:05`. */
function clock(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

/** Counts have no halves. */
function wholeTick(value: number): string {
  if (!Number.isInteger(value)) return "";
  return value < 10_000 ? String(value) : `${value / 1_000} k`;
}

function shown(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : wholeNumber(value);
}

/** All that is known of a line together. */
export function sumOf({ values }: Pick<Line, "values">): string {
  return wholeNumber(values.reduce<number>((sum, value) => sum + (value ?? 0), 0));
}
