import { Chart, type Line } from "../../parts/chart.js";
import { wholeNumber } from "../../parts/format.js";
import type { Schemas } from "../api.js";
import { type Figures, type Series, spanOf, timesOf, together, total } from "./figures.js";

interface ChartsProps {
  readonly overview: Schemas["AdminOverview"];
  readonly series: Series;
  /** In words. */
  readonly span: string;
}

export function Charts({ overview, series, span }: ChartsProps) {
  const times = timesOf(series);
  const { requests, jobs, credits, providers } = series;
  const labels = new Map(overview.providers.map(({ id, label }) => [id, label]));
  return (
    <div class="charts">
      <OfLines
        title="Requests"
        span={span}
        times={times}
        lines={[
          { label: "All", values: requests.total, look: "main" },
          { label: "Refused by a limit", values: requests.refused, look: "warn" },
          { label: "Client errors", values: requests.client_errors, look: "soft" },
          { label: "Server errors", values: requests.server_errors, look: "bad" },
        ]}
      />
      <OfLines
        title="Jobs"
        span={span}
        times={times}
        lines={[
          { label: "Accepted", values: jobs.accepted, look: "main" },
          { label: "Completed", values: jobs.completed, look: "good" },
          { label: "Failed", values: jobs.failed, look: "bad" },
        ]}
      />
      <QueueAge age={overview.queue_age_seconds} times={times} ages={series.queue_age_seconds} span={span} />
      <OfLines
        title="Credits in and out"
        span={span}
        times={times}
        lines={[
          { label: "Charged", values: credits.charged, look: "main" },
          { label: "Granted and renewed", values: together(credits.granted, credits.renewed), look: "good" },
          { label: "Refunded", values: credits.refunded, look: "warn" },
          { label: "Expired", values: credits.expired, look: "soft" },
        ]}
      />
      {providers.map(({ id, delivered, failed, wasted }) => (
        <OfLines
          key={id}
          title={`Renders: ${labels.get(id) ?? id}`}
          span={span}
          times={times}
          lines={[
            { label: "Delivered", values: delivered, look: "main" },
            { label: "Failed", values: failed, look: "bad" },
            { label: "Wasted", values: wasted, look: "warn" },
          ]}
        />
      ))}
    </div>
  );
}

interface OfLinesProps {
  readonly title: string;
  readonly span: string;
  readonly times: readonly number[];
  readonly lines: readonly Line[];
}

function OfLines({ title, span, times, lines }: OfLinesProps) {
  const said = lines.map(({ label, values }) => `${label} ${wholeNumber(total(values))}`).join(", ");
  return (
    <div class="card">
      <Chart title={title} summary={`${said} in ${span}`} times={times} lines={lines} />
    </div>
  );
}

interface QueueAgeProps extends Pick<OfLinesProps, "times" | "span"> {
  /** Now, in seconds. */
  readonly age: number;
  readonly ages: Figures;
}

function QueueAge({ age, ages, times, span }: QueueAgeProps) {
  const highest = Math.max(age, ...ages.map((one) => one ?? 0));
  const values = ages.map((one) => (one === null ? null : Math.round(one)));
  return (
    <div class="card">
      <Chart
        title="Queue age"
        summary={`the job that is due the longest is due for ${spanOf(age)}; ${spanOf(highest)} at most in ${span}`}
        times={times}
        lines={[{ label: "Highest", values, look: "main" }]}
        unit=" s"
        figure={() => wholeNumber(Math.round(highest))}
      />
    </div>
  );
}
