import { wholeNumber } from "../../parts/format.js";
import { useResource } from "../../parts/resource.js";
import { type Column } from "../../parts/table.js";
import { admin, read, type Schemas } from "../api.js";
import { Choice, Filters } from "../filter.js";
import { Empty, Listed } from "../shown.js";
import { View } from "../shell/view.js";

type Row = Schemas["AdminMargin"];
const DAYS = ["1", "7", "30", "90"] as const;
const DAY_MS = 86_400_000;

const COLUMNS: readonly Column<Row>[] = [
  { head: "Provider", kind: "main", cell: ({ provider }) => <strong>{provider}</strong> },
  { head: "Completed", kind: "number", cell: ({ completed }) => wholeNumber(completed) },
  { head: "Failed", kind: "number", cell: ({ failed }) => wholeNumber(failed) },
  { head: "Credits in", kind: "number", cell: ({ credits_charged: credits }) => wholeNumber(credits) },
  { head: "Attempts", kind: "number", cell: ({ attempts }) => wholeNumber(attempts) },
  { head: "Bought", kind: "number", cell: ({ bought }) => wholeNumber(bought) },
  { head: "Wasted", kind: "number", cell: ({ wasted, bought }) => `${wholeNumber(wasted)}${shareOf(wasted, bought)}` },
  { head: "Billed", kind: "number", cell: ({ billed }) => <Amounts of={billed} /> },
  { head: "Refunded", kind: "number", cell: ({ refunded }) => <Amounts of={refunded} /> },
];

/** What accounts paid, and what providers billed for it. */
export function Margin({ query }: { readonly query: URLSearchParams }) {
  const days = DAYS.find((one) => one === query.get("days")) ?? "7";
  const resource = useResource(
    (signal) => {
      const from = new Date(Date.now() - Number(days) * DAY_MS).toISOString();
      return read(admin.GET("/admin/v1/margin", { signal, params: { query: { from } } }));
    },
    [days],
  );
  return (
    <View
      title="Margin"
      lead="What accounts paid in credits and providers billed, for jobs of this time that have ended."
    >
      <Filters label="Margin">
        <Choice
          path="/margin"
          query={new URLSearchParams({ days })}
          name="days"
          label="Jobs of"
          choices={DAYS.map((count) => [count, count === "1" ? "the last day" : `the last ${count} days`])}
        />
      </Filters>
      <Listed
        caption="Margin by provider"
        columns={COLUMNS}
        of={resource}
        rows={({ providers }) => providers}
        keyOf={({ provider }) => provider}
        empty={<Empty title="Nothing was bought">No job of this time has ended yet.</Empty>}
      />
      <p class="soft">
        An attempt is bought when its provider has accepted it, and wasted when it was bought and delivered nothing.
        With a price of credits, <code>fermata report margin</code> works out the margin itself.
      </p>
    </View>
  );
}

function shareOf(part: number, whole: number): string {
  return part === 0 || whole === 0 ? "" : ` (${Math.round((part / whole) * 100)} %)`;
}

function Amounts({ of }: { readonly of: Readonly<Record<string, number>> }) {
  const amounts = Object.entries(of);
  if (amounts.length === 0) return <>–</>;
  return (
    <>
      {amounts.map(([unit, amount]) => (
        <div key={unit}>
          {amount.toLocaleString("en", { maximumFractionDigits: 4 })} {unit}
        </div>
      ))}
    </>
  );
}
