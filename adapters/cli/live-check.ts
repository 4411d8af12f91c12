import type { Command } from "commander";
import { OperationRefusedError } from "../../core/errors.js";
import type { LiveCheckResult, LivePurchase } from "../../core/live-check/live-check.js";
import type { CheckedFile, CheckedTrack } from "../../core/live-check/live-files.js";
import type { LiveGeneration } from "../../core/live-check/live-generation.js";
import type { ProviderCost } from "../../core/ports/music-provider.js";
import { printable } from "../../core/printable.js";
import type { CliHost, LivePlan, LiveReport } from "./host.js";
import { CommandFailed, print, table } from "./output.js";

export interface LiveOptions {
  readonly model?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/**
 * Shows what will be bought, asks, and proves a plugin against its service.
 *
 * @throws {OperationRefusedError} the operator does not want it; nothing was called
 * @throws {CommandFailed} the plugin is not proved
 */
export async function checkLive(host: CliHost, use: string, options: LiveOptions, command: Command): Promise<void> {
  const { model = null, yes = false } = options;
  if (!yes && host.confirm === null) {
    command.error("error: --live needs --yes where there is no terminal to ask on");
  }
  const session = await host.openLiveCheck(use, model);
  try {
    const { plan } = session;
    if (plan.generation === null && !plan.hasProbe)
      throw new OperationRefusedError(`${plan.id} has neither a model nor a probe: there is nothing to try.`);
    for (const line of planned(plan)) note(host, line);
    const question = plan.generation === null ? "Try the key?" : "Call the provider and buy it?";
    if (!yes && (await host.confirm?.(question)) !== true) throw new OperationRefusedError("Nothing was called.");
    const result = await session.run((report) => note(host, described(report)));
    print(host, options, presented(plan, result), linesOf(plan, result));
    if (!result.ok) throw new CommandFailed();
  } finally {
    await session.close();
  }
}

/** stdout is for the result. */
function note(host: CliHost, line: string): void {
  host.stderr.write(`${printable(line)}\n`);
}

function planned({ id, label, addresses, generation }: LivePlan): string[] {
  const place = addresses.length === 0 ? "no address in its settings" : addresses.join(", ");
  const provider = ["provider", `${label} (${id}), ${place}`];
  if (generation === null) return table([provider, ["generation", "none: it has no models; only its key is tried"]]);
  return table([
    provider,
    ["model", `${generation.model.id} (${generation.model.name})`],
    ["generation", `one: ${requestOf(generation)}`],
    ["expected", `${expected(generation)}; callers pay ${generation.model.creditCost} credits for one`],
  ]);
}

function requestOf({ request: { prompt, lyrics, durationSeconds, instrumental } }: LiveGeneration): string {
  const length = durationSeconds === null ? "as long as the provider makes it" : `${durationSeconds} s`;
  const voice = lyrics !== null ? "two lines of lyrics" : instrumental ? "instrumental" : "no lyrics";
  return `${length}, ${voice}, ${JSON.stringify(prompt)}`;
}

function expected({ expectedCost }: LiveGeneration): string {
  if (expectedCost === null) return "unknown: the model has no upstreamCost; see the provider's prices";
  return `about ${amountOf(expectedCost)} at the provider`;
}

function amountOf({ amount, unit }: ProviderCost): string {
  return `${amount} ${unit}`;
}

function described(report: LiveReport): string {
  switch (report.type) {
    case "begun":
      return `${report.step} …`;
    case "rendering":
      return `poll: ${report.detail}, after ${Math.round(report.ms / 1_000)} s`;
    case "awaiting_reply":
      return "Interrupted: waiting for the reply to the submission, which may be billed. Ctrl-C again does not wait.";
    case "forced":
      return "The check was ended by force. What it submitted may be billed: see the provider's console.";
  }
}

function presented({ id, label, addresses, generation }: LivePlan, result: LiveCheckResult): object {
  const { ok, isInterrupted, steps, purchase, tracks } = result;
  return {
    ...{ id, label, ok, interrupted: isInterrupted, addresses, model: generation?.model.id ?? null },
    expected_cost: generation?.expectedCost ?? null,
    credit_cost: generation?.model.creditCost ?? null,
    steps,
    purchase: purchase === null ? null : presentPurchase(purchase),
    tracks: tracks.map(({ title, files, issues }) => ({ title, issues, files: files.map(presentFile) })),
  };
}

function presentPurchase({ modelId, attemptId, work, isBilled, cost }: LivePurchase): object {
  return { model: modelId, attempt_id: attemptId, work, billed: isBilled, cost };
}

function presentFile({ role, label, contentType, sizeBytes, durationSeconds, issues }: CheckedFile): object {
  const found = { content_type: contentType, size_bytes: sizeBytes, duration_seconds: durationSeconds };
  return { role, label, ...found, issues };
}

function linesOf(plan: LivePlan, { ok, steps, purchase, tracks }: LiveCheckResult): string[] {
  const verdict = ok ? "Nothing is wrong." : "It is not proved.";
  return [
    ...table(steps.map(({ step, outcome, ms, detail }) => [step, outcome, `${ms} ms`, detail])),
    ...tracks.flatMap(trackLines),
    ...billLines(plan, purchase),
    verdict,
  ];
}

function trackLines({ title, files, issues }: CheckedTrack, index: number): string[] {
  const rows = files.map(({ role, label, contentType, sizeBytes, durationSeconds }) => [
    `  ${role} ${label}`,
    contentType ?? "-",
    sizeBytes === null ? "-" : `${sizeBytes} bytes`,
    durationSeconds === null ? "-" : `${Math.round(durationSeconds * 10) / 10} s`,
  ]);
  const ofFiles = files.flatMap((file) => file.issues.map((issue) => `${file.role} ${file.label}: ${issue}`));
  return [
    printable(`track ${index + 1}${title === null ? "" : `  ${title}`}`),
    ...table(rows),
    ...[...issues, ...ofFiles].map((issue) => printable(`  wrong  ${issue}`)),
  ];
}

function billLines({ generation }: LivePlan, purchase: LivePurchase | null): string[] {
  if (purchase === null) return ["Nothing was bought."];
  const { modelId, isBilled, work, attemptId, cost } = purchase;
  const named = work === null ? `attempt ${attemptId}` : `attempt ${attemptId}, work ${work}`;
  const likely = generation === null ? "unknown" : expected(generation);
  const price = cost === null ? likely : `${amountOf(cost)}, as the provider says`;
  if (isBilled === "no") return ["Nothing was bought: the provider says that it bills nothing for it."];
  const bill = isBilled === "yes" ? "was bought" : "may be billed";
  return [printable(`One generation of ${modelId} ${bill} (${named}). Cost: ${price}.`)];
}
