import { type Command, InvalidArgumentError } from "commander";
import type {
  Amounts,
  MarginReport,
  ProviderMargin,
  Purchases,
  RefundedAttempt,
} from "../../core/attempts/report-margin.js";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, iso, print, table, withApp } from "./output.js";
import { wholeNumberWithin } from "./values.js";

interface MarginFlags {
  readonly from?: number;
  readonly to?: number;
  readonly creditPrice?: number;
  readonly currency: string;
  readonly limit: number;
  readonly byDay?: boolean;
  readonly json?: boolean;
}

const DAYS_30_MS = 30 * 86_400_000;

/** `report …`. */
export function addReportCommands(program: Command, host: CliHost): void {
  const report = addGroup(program, "report", "What providers brought in and cost");
  addCommand(report, "margin", "Compare what accounts paid with what providers billed, and show what was wasted", [
    "report margin",
    "report margin --by-day --from 2026-11-01",
    "report margin --from 2026-11-01 --to 2026-12-01 --credit-price 0.01 --currency USD",
  ])
    .option("--from <time>", "jobs created at or after this moment; default: 30 days ago", moment)
    .option("--to <time>", "jobs created before this moment; default: now", moment)
    .option("--credit-price <amount>", "what a credit is sold for: adds the margin in --currency", price)
    .option("--currency <code>", "the unit that --credit-price is in", "USD")
    .option("--by-day", "show what was bought for each day as well: the day of acceptance, in UTC")
    .option("--limit <n>", "most refunded attempts to list, 0 to 1000", wholeNumberWithin(0, 1_000), 20)
    .action(async (flags: MarginFlags) => {
      await withApp(host, async (app) => {
        const to = flags.to ?? app.now();
        const found = await app.margin.report({ from: flags.from ?? to - DAYS_30_MS, to, refundedLimit: flags.limit });
        print(host, flags, presentReport(found, flags), describeReport(found, flags));
      });
    });
}

function presentReport(report: MarginReport, flags: MarginFlags): object {
  return {
    from: iso(report.from),
    to: iso(report.to),
    providers: report.providers.map((provider) => ({
      id: provider.providerId,
      completed: provider.completed,
      failed: provider.failed,
      credits_charged: provider.creditsCharged,
      attempts: provider.attempts,
      ...presentPurchases(provider),
      billed: provider.billed,
      perhaps_billed: provider.possiblyBilled,
      lost: provider.refunded,
      ...presentMargin(provider, flags),
    })),
    days: report.days.map((day) => ({ date: day.day, provider: day.providerId, ...presentPurchases(day) })),
    paid_upstream_refunded_below: {
      count: report.refundedCount,
      attempts: report.refunded.map(presentRefunded),
    },
  };
}

function presentMargin(provider: ProviderMargin, { creditPrice, currency }: MarginFlags): object {
  return creditPrice === undefined ? {} : { margin: { [currency]: marginOf(provider, creditPrice, currency) } };
}

function presentPurchases({ bought, delivered, wasted, perhaps, reasons }: Purchases): object {
  return { bought, delivered, wasted, perhaps, reasons };
}

function presentRefunded({ job, attempt }: RefundedAttempt): object {
  return {
    job_id: job.id,
    account: job.accountId,
    operation: job.operation,
    error: job.error?.code ?? null,
    attempt: attempt.number,
    provider: attempt.providerId,
    outcome: attempt.outcome,
    loss: attempt.loss,
    billable: attempt.billable ?? "unknown",
    cost: attempt.cost,
    started_at: iso(attempt.startedAt),
    accepted_at: iso(attempt.acceptedAt),
  };
}

/** Income less all that was, or may have been, billed in that currency. */
function marginOf(provider: ProviderMargin, creditPrice: number, currency: string): number {
  const { creditsCharged, billed, possiblyBilled } = provider;
  const margin = creditsCharged * creditPrice - (billed[currency] ?? 0) - (possiblyBilled[currency] ?? 0);
  return Math.round(margin * 1e6) / 1e6;
}

function describeReport(report: MarginReport, flags: MarginFlags): string[] {
  if (report.providers.length === 0) return ["No job ended in this time."];
  return [...describeMargins(report, flags), ...describePurchases(report, flags), ...describeRefunded(report)];
}

function describeMargins(report: MarginReport, { creditPrice, currency }: MarginFlags): string[] {
  const titles = ["provider", "done", "failed", "credits", "billed", "perhaps", "lost"];
  const rows = report.providers.map((provider) => [
    provider.providerId,
    String(provider.completed),
    String(provider.failed),
    String(provider.creditsCharged),
    shown(provider.billed),
    shown(provider.possiblyBilled),
    shown(provider.refunded),
    ...(creditPrice === undefined ? [] : [`${marginOf(provider, creditPrice, currency)} ${currency}`]),
  ]);
  return table([creditPrice === undefined ? titles : [...titles, "margin"], ...rows]);
}

const PURCHASE_TITLES = ["provider", "bought", "delivered", "wasted", "perhaps", "why wasted"];

function describePurchases(report: MarginReport, { byDay }: MarginFlags): string[] {
  const providers = report.providers.flatMap((provider) => purchaseRows([provider.providerId], provider));
  const all = ["", "Attempts that providers accepted, or perhaps:", ...table([PURCHASE_TITLES, ...providers])];
  if (byDay !== true) return all;
  const days = report.days.flatMap((day) => purchaseRows([day.day, day.providerId], day));
  return [...all, "", "By the day of acceptance, in UTC:", ...table([["day", ...PURCHASE_TITLES], ...days])];
}

/** One row, and one more for each further reason, so that the table stays narrow. */
function purchaseRows(
  names: readonly string[],
  { bought, delivered, wasted, perhaps, reasons }: Purchases,
): string[][] {
  const cells = [...names, ...[bought, delivered, wasted, perhaps].map(String)];
  const counts = Object.entries(reasons).sort(([, a], [, b]) => b - a);
  const [main = "-", ...further] = counts.map(([reason, count]) => `${count} ${reason}`);
  return [[...cells, main], ...further.map((reason) => [...cells.map(() => ""), reason])];
}

function describeRefunded({ refunded, refundedCount }: MarginReport): string[] {
  const attempts = `${refundedCount} attempt${refundedCount === 1 ? "" : "s"}`;
  const title = `Paid upstream, or perhaps, and refunded below: ${attempts}.`;
  const rows = refunded.map(({ job, attempt }) => {
    const { providerId, number, outcome, billable, loss } = attempt;
    return [job.id, providerId, `attempt ${number}`, outcome ?? "lost", billable ?? "unknown", loss ?? ""];
  });
  return ["", title, ...table(rows)];
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
