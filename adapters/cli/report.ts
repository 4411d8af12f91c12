import { type Command, InvalidArgumentError } from "commander";
import type { Amounts, LostAttempt, MarginReport, ProviderBooks } from "../../core/execution/report-margin.js";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, iso, print, table, withApp } from "./output.js";
import { wholeNumberWithin } from "./values.js";

interface MarginFlags {
  readonly from?: number;
  readonly to?: number;
  readonly creditPrice?: number;
  readonly currency: string;
  readonly limit: number;
  readonly json?: boolean;
}

const DAYS_30_MS = 30 * 86_400_000;

/** `report …`. */
export function addReportCommands(program: Command, host: CliHost): void {
  const report = addGroup(program, "report", "What providers brought in and cost");
  addCommand(report, "margin", "Compare what accounts paid with what providers billed, failed attempts included", [
    "report margin",
    "report margin --from 2026-11-01 --to 2026-12-01 --credit-price 0.01 --currency USD",
  ])
    .option("--from <time>", "jobs made at or after this moment; default: 30 days ago", moment)
    .option("--to <time>", "jobs made before this moment; default: now", moment)
    .option("--credit-price <amount>", "what a credit is sold for: adds the margin in --currency", price)
    .option("--currency <code>", "the unit that --credit-price is in", "USD")
    .option("--limit <n>", "most lost attempts to list, 0 to 1000", wholeNumberWithin(0, 1_000), 20)
    .action(async (flags: MarginFlags) => {
      await withApp(host, async (app) => {
        const to = flags.to ?? app.now();
        const found = await app.margin.report({ from: flags.from ?? to - DAYS_30_MS, to, lostLimit: flags.limit });
        print(host, flags, presentReport(found, flags), describeReport(found, flags));
      });
    });
}

function presentReport(report: MarginReport, flags: MarginFlags): object {
  return {
    from: iso(report.from),
    to: iso(report.to),
    providers: report.providers.map((books) => ({
      id: books.providerId,
      completed: books.completed,
      failed: books.failed,
      credits_charged: books.creditsCharged,
      attempts: books.attempts,
      billed: books.billed,
      perhaps_billed: books.perhapsBilled,
      lost: books.lost,
      ...(flags.creditPrice === undefined ? {} : { margin: { [flags.currency]: marginOf(books, flags.creditPrice, flags.currency) } }),
    })),
    paid_upstream_refunded_below: {
      count: report.lostCount,
      attempts: report.lost.map(presentLost),
    },
  };
}

function presentLost({ job, attempt }: LostAttempt): object {
  return {
    job_id: job.id,
    account: job.accountId,
    operation: job.operation,
    error: job.error?.code ?? null,
    attempt: attempt.number,
    provider: attempt.providerId,
    outcome: attempt.outcome,
    billable: attempt.billable ?? "unknown",
    cost: attempt.cost,
    started_at: iso(attempt.startedAt),
  };
}

/** Income less all that was, or may have been, billed in that currency. */
function marginOf({ creditsCharged, billed, perhapsBilled }: ProviderBooks, creditPrice: number, currency: string): number {
  const margin = creditsCharged * creditPrice - (billed[currency] ?? 0) - (perhapsBilled[currency] ?? 0);
  return Math.round(margin * 1e6) / 1e6;
}

function describeReport(report: MarginReport, { creditPrice, currency }: MarginFlags): string[] {
  if (report.providers.length === 0) return ["No job ended in this time."];
  const titles = ["provider", "done", "failed", "credits", "billed", "perhaps", "lost", ...(creditPrice === undefined ? [] : ["margin"])];
  const rows = report.providers.map((books) => [
    books.providerId,
    String(books.completed),
    String(books.failed),
    String(books.creditsCharged),
    shown(books.billed),
    shown(books.perhapsBilled),
    shown(books.lost),
    ...(creditPrice === undefined ? [] : [`${marginOf(books, creditPrice, currency)} ${currency}`]),
  ]);
  const lost = report.lost.map(
    ({ job, attempt }) => `${job.id}  ${attempt.providerId}  attempt ${attempt.number}  ${attempt.outcome ?? "lost"}  ${attempt.billable ?? "unknown"}`,
  );
  const title = `Paid upstream, or perhaps, and refunded below: ${report.lostCount} attempt${report.lostCount === 1 ? "" : "s"}.`;
  return [...table([titles, ...rows]), title, ...lost];
}

function shown(amounts: Amounts): string {
  const entries = Object.entries(amounts);
  return entries.length === 0 ? "-" : entries.map(([unit, amount]) => `${amount} ${unit}`).join(" + ");
}

function moment(text: string): number {
  const at = Date.parse(text);
  if (!Number.isNaN(at) && /^\d{4}-\d{2}-\d{2}/.test(text)) return at;
  throw new InvalidArgumentError("Allowed: a date or time such as 2026-11-01 or 2026-11-01T12:00:00Z.");
}

function price(text: string): number {
  const amount = Number(text);
  if (/^\d+(\.\d+)?$/.test(text)) return amount;
  throw new InvalidArgumentError("Allowed: a number of at least 0.");
}
