import { wholeNumber } from "../../parts/format.js";
import { Pager } from "../../parts/links.js";
import { useResource } from "../../parts/resource.js";
import { type Column } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { admin, read, type Schemas } from "../api.js";
import { IdLink, Empty, Listed } from "../shown.js";
import { Section } from "../shell/view.js";
import { CreditActions } from "./credit-actions.js";

type Entry = Schemas["AdminLedgerEntry"];
const PAGE = 25;

const KINDS: Readonly<Record<Entry["kind"], string>> = {
  opening: "Archived",
  grant: "Granted",
  renew: "Renewed",
  expire: "Expired",
  reserve: "Reserved",
  charge: "Charged",
  refund: "Refunded",
};

const COLUMNS: readonly Column<Entry>[] = [
  {
    head: "Movement",
    kind: "main",
    cell: ({ kind, number }) => (
      <>
        <strong>{KINDS[kind]}</strong> {number > 0 && <span class="soft">no. {number}</span>}
      </>
    ),
  },
  { head: "Monthly", kind: "number", cell: ({ monthly }) => change(monthly) },
  { head: "Pack", kind: "number", cell: ({ pack }) => change(pack) },
  { head: "Reserved", kind: "number", cell: ({ reserved }) => change(reserved) },
  { head: "Spent", kind: "number", cell: ({ spent }) => change(spent) },
  {
    head: "For",
    cell: ({ job_id: job, reference }) => (job === null ? (reference ?? "") : <IdLink id={job} to="jobs" />),
  },
  { head: "When", cell: ({ created_at: at }) => <Time at={at} /> },
];

function change(amount: number): string {
  if (amount === 0) return "";
  return `${amount > 0 ? "+" : "−"}${wholeNumber(Math.abs(amount))}`;
}

interface LedgerProps {
  readonly account: Schemas["AdminAccount"];
  readonly query: URLSearchParams;
  /** The credits have changed. */
  readonly onChange: () => void;
}

/** Every movement of an account's credits. */
export function Ledger({ account: { id: account, tier, deleted_at: deleted }, query, onChange }: LedgerProps) {
  const before = Number(query.get("before") ?? "") || undefined;
  const path = `#/accounts/${account}/ledger`;
  const resource = useResource(
    (signal) =>
      read(
        admin.GET("/admin/v1/accounts/{id}/ledger", {
          signal,
          params: { path: { id: account }, query: { limit: PAGE, ...(before === undefined ? {} : { before }) } },
        }),
      ),
    [account, before],
  );
  const last = resource.data?.entries.at(-1);
  const changed = (): void => {
    resource.reload();
    onChange();
  };
  return (
    <Section
      title="Credits"
      actions={deleted === null ? <CreditActions account={account} tier={tier} onDone={changed} /> : null}
    >
      <Listed
        caption="Ledger, newest first"
        columns={COLUMNS}
        of={resource}
        rows={({ entries }) => entries}
        keyOf={({ number }) => number}
        empty={<Empty title="No movements yet">Grants, renewals and what jobs reserve and spend appear here.</Empty>}
      />
      <Pager
        first={before === undefined ? null : path}
        next={last !== undefined && last.number > 1 ? `${path}?before=${last.number}` : null}
      />
    </Section>
  );
}
