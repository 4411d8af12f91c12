import { Button, ErrorNote } from "../../parts/elements.js";
import { Table } from "../../parts/table.js";
import { useTask } from "../../parts/task.js";
import { admin, read, type Schemas } from "../api.js";
import { Section } from "../shell/view.js";
import { counted } from "../words.js";

const LEAD =
  "Each balance has to be the sum of its entries, and each job has to have been charged or refunded what was " +
  "reserved for it. Workers check this all the time; the overview says what they found.";

/** Goes through the ledger once, from its beginning to its end. */
export function LedgerCheck() {
  const { result, error, isBusy, start } = useTask(() => read(admin.POST("/admin/v1/ledger/verify")));
  return (
    <Section
      title="Ledger"
      lead={LEAD}
      actions={
        <Button isBusy={isBusy} onClick={start}>
          {isBusy ? "Checking" : "Check now"}
        </Button>
      }
    >
      {error === undefined ? null : <ErrorNote error={error} />}
      <div role="status">{result === undefined ? null : <Found of={result} />}</div>
    </Section>
  );
}

function Found({ of: { complete, checked, violations } }: { readonly of: Schemas["AdminLedgerCheck"] }) {
  const rows = `${counted(checked, "row")} checked${complete ? "" : ", then the server stopped"}`;
  if (violations.length === 0) return <p class={`note ${complete ? "good" : "warn"}`}>Nothing is wrong: {rows}.</p>;
  return (
    <>
      <p class="note bad">
        {violations.length} wrong: {rows}.
      </p>
      <Table
        caption="What is wrong"
        columns={[
          { head: "Invariant", kind: "main", cell: ({ invariant }) => <code>{invariant}</code> },
          { head: "Of", cell: ({ subject }) => <code>{subject}</code> },
          { head: "Found", cell: ({ found }) => found },
        ]}
        rows={violations}
        keyOf={({ invariant, subject }) => `${invariant} ${subject}`}
        empty={null}
      />
    </>
  );
}
