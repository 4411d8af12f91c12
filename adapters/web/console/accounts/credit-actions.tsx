import { Action } from "../action.js";
import { admin, read } from "../api.js";
import { counted } from "../words.js";

interface CreditActionsProps {
  readonly account: string;
  readonly tier: string;
  readonly onDone: () => void;
}

export function CreditActions({ account, tier, onDone }: CreditActionsProps) {
  const params = { path: { id: account } };
  return (
    <>
      <Action
        label="Grant credits…"
        look="primary"
        needs="owner"
        title="Grant credits"
        submit="Grant"
        fields={[
          { name: "amount", label: "Credits", type: "number" },
          {
            name: "bucket",
            label: "Bucket",
            choices: [
              ["monthly", "Monthly: expires with the next renewal"],
              ["pack", "Pack: stays until it is spent"],
            ],
            initial: "monthly",
          },
          {
            name: "reference",
            label: "Reference",
            hint: "Such as an order: a second grant with the same one changes nothing.",
            isOptional: true,
          },
        ]}
        run={async ({ amount = "", bucket, reference = "" }, headers) => {
          const body = {
            amount: Number(amount),
            bucket: bucket === "pack" ? ("pack" as const) : ("monthly" as const),
            ...(reference === "" ? {} : { reference }),
          };
          const balance = await read(admin.POST("/admin/v1/accounts/{id}/credits/grants", { params, body, headers }));
          return `${counted(balance.available, "credit")} available now.`;
        }}
        onDone={onDone}
      >
        <p>
          The account can spend them at once. <strong>A grant is not taken back.</strong>
        </p>
      </Action>
      <Action
        label="Renew…"
        needs="owner"
        title="Renew the monthly credits"
        submit="Renew"
        fields={[
          {
            name: "period",
            label: "Month that begins",
            hint: "Written 2026-11. Empty: the current one, in UTC.",
            isOptional: true,
          },
        ]}
        run={async ({ period = "" }, headers) => {
          const body = period === "" ? {} : { period };
          const renewal = await read(admin.POST("/admin/v1/accounts/{id}/credits/renewals", { params, body, headers }));
          return renewal.repeated
            ? `${renewal.period} was renewed before; nothing was changed.`
            : `${renewal.period} has begun with ${counted(renewal.monthly, "monthly credit")}.`;
        }}
        onDone={onDone}
      >
        <p>
          What is left of the monthly credits <strong>expires</strong>, and the allowance of the tier {tier} is added.
          Pack credits stay. Each month is renewed once.
        </p>
      </Action>
    </>
  );
}
