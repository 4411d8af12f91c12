import type { ComponentChildren } from "preact";
import { wholeNumber } from "../../parts/format.js";
import type { Schemas } from "../api.js";
import { type Series, spanOf, together, total } from "./figures.js";

interface TilesProps {
  readonly overview: Schemas["AdminOverview"];
  readonly series: Series;
  /** In words. */
  readonly span: string;
}

/** The numbers that matter, each with a link to what is behind it. */
export function Tiles({ overview, series, span }: TilesProps) {
  const { jobs, queue_age_seconds: age } = overview;
  const { completed, failed } = series.jobs;
  const [done, lost] = [total(completed), total(failed)];
  const wasted = total(together(...series.providers.map((one) => one.wasted)));
  return (
    <ul class="tiles">
      <Tile href="#/jobs?status=processing" label="Jobs under way" value={jobs.submitting + jobs.rendering}>
        {wholeNumber(jobs.submitting)} submitting, {wholeNumber(jobs.rendering)} rendering
      </Tile>
      <Tile href="#/jobs?status=queued" label="Waiting" value={jobs.waiting}>
        {age === 0 ? "none is late" : `the longest due for ${spanOf(age)}`}
      </Tile>
      <Tile href="#/jobs?status=completed" label="Completed" value={done}>
        in {span}
      </Tile>
      <Tile href="#/jobs?status=failed" label="Failed" value={lost} tone={lost > 0 ? "bad" : undefined}>
        {lost + done === 0 ? "no job ended" : `${((lost / (lost + done)) * 100).toFixed(1)} % of those that ended`}
      </Tile>
      <Tile href="#/margin" label="Credits charged" value={total(series.credits.charged)}>
        {wasted === 0 ? "no render wasted" : `${wholeNumber(wasted)} renders wasted`}
      </Tile>
      <Tile href="#/webhooks" label="Webhooks to send" value={overview.deliveries_pending}>
        wait for their next attempt
      </Tile>
    </ul>
  );
}

interface TileProps {
  readonly href: string;
  readonly label: string;
  readonly value: number;
  readonly tone?: "bad" | undefined;
  readonly children: ComponentChildren;
}

function Tile({ href, label, value, tone, children }: TileProps) {
  return (
    <li class="card tile">
      <a href={href}>{label}</a>
      <strong class={tone}>{wholeNumber(value)}</strong>
      <small>{children}</small>
    </li>
  );
}
