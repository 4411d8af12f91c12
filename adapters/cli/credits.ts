import type { Command } from "commander";
import { available, type Balance } from "../../core/credits/balance.js";
import { addServerOptions, type ServerFlags } from "./caller/server.js";
import { showOwnCredits } from "./caller/show.js";
import type { CliHost } from "./host.js";
import { accountIn, addCommand, addGroup, print, table, withApp } from "./output.js";
import { month, wholeNumber } from "./values.js";

/** `credits …`. */
export function addCreditCommands(program: Command, host: CliHost): void {
  const credits = addGroup(program, "credits", "Grant, renew and show credits");
  const show = (options: { json?: boolean }, balance: Balance, presented: object): void =>
    print(host, options, presented, describe(balance));

  addCommand(credits, "grant", "Add credits", [
    "credits grant acct_01j… 100",
    'credits grant acct_01j… 500 --pack --reference "order 17"',
  ])
    .argument("<account>")
    .argument("<amount>", "whole credits, from 1 on", wholeNumber)
    .option("--pack", "to the pack bucket, which no renewal touches; without it to the monthly one")
    .option("--reference <text>", "what it is for; a repeated grant with the same reference changes nothing")
    .action(
      async (accountId: string, amount: number, options: { pack?: boolean; reference?: string; json?: boolean }) => {
        await withApp(host, async (app, present) => {
          const reference = options.reference === undefined ? {} : { reference: options.reference };
          const bucket = options.pack === true ? "pack" : "monthly";
          const balance = await app.credits.grant(await accountIn(app, accountId), amount, { bucket, ...reference });
          show(options, balance, present.credits(balance));
        });
      },
    );
  addCommand(credits, "renew <account>", "Set the monthly credits to the tier's allowance, once a month", [
    "credits renew acct_01j…",
    "credits renew acct_01j… --period 2026-11",
  ])
    .option("--period <month>", "the month that begins; default: the current one, in UTC", month)
    .action(async (accountId: string, options: { period?: string; json?: boolean }) => {
      await withApp(host, async (app, present) => {
        const period = options.period === undefined ? {} : { period: options.period };
        const renewal = await app.credits.renew(await accountIn(app, accountId), period);
        const already = renewal.isRepeated ? [`${renewal.period} was renewed already; nothing was changed.`] : [];
        print(host, options, present.credits(renewal), [...already, ...describe(renewal)]);
      });
    });
  const own = addCommand(
    credits,
    "show [account]",
    "Show an account's credits; without one those of the key, on a server",
    ["credits show acct_01j… --json", "credits show"],
  );
  addServerOptions(own).action(
    async (accountId: string | undefined, options: ServerFlags & { readonly json?: boolean }, command: Command) => {
      if (accountId === undefined) return showOwnCredits(host, options, command);
      await withApp(host, async (app, present) => {
        const balance = await app.credits.balance(await accountIn(app, accountId));
        show(options, balance, present.credits(balance));
      });
    },
  );
}

function describe(balance: Balance): string[] {
  return table([
    ["available", String(available(balance))],
    ["monthly", String(balance.monthly)],
    ["pack", String(balance.pack)],
    ["reserved", String(balance.reservedMonthly + balance.reservedPack)],
    ["spent", String(balance.spent)],
  ]);
}
