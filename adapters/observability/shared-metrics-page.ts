import type { PrometheusMetrics } from "./metrics.js";

/** Prometheus reads every few seconds at most: a second of delay makes no difference. */
const RENDER_EVERY_MS = 1_000;

interface Rendering {
  readonly text: Promise<string>;
  /** Null while it is under way. */
  endedAt: number | null;
}

/** The text of all figures, rendered at most once a second however many read it: each time takes CPU. */
export class SharedMetricsPage {
  readonly contentType: string;
  private latest: Rendering | null = null;

  /** @param nowMs a clock that never goes back */
  constructor(
    private readonly metrics: Pick<PrometheusMetrics, "contentType" | "text">,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.contentType = metrics.contentType;
  }

  /** What was rendered within the last second, by this call or another one. A failure is not kept. */
  text(): Promise<string> {
    if (this.latest !== null && this.isFresh(this.latest)) return this.latest.text;
    const rendering: Rendering = { text: this.metrics.text(), endedAt: null };
    this.latest = rendering;
    rendering.text.then(
      () => (rendering.endedAt = this.nowMs()),
      () => (this.latest = this.latest === rendering ? null : this.latest),
    );
    return rendering.text;
  }

  private isFresh({ endedAt }: Rendering): boolean {
    return endedAt === null || this.nowMs() - endedAt < RENDER_EVERY_MS;
  }
}
