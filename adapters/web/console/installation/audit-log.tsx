import { useResource } from "../../parts/resource.js";
import { type Column } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { admin, read, type Schemas } from "../api.js";
import { Filters, given, Search } from "../filter.js";
import { IdLink, Listed } from "../shown.js";
import { View } from "../shell/view.js";
import { shortId } from "../words.js";

type AuditRecord = Schemas["AdminAuditRecord"];
const PATH = "/audit";
const LIMIT = 100;

const COLUMNS: readonly Column<AuditRecord>[] = [
  {
    head: "Action",
    kind: "main",
    cell: ({ action, number }) => (
      <>
        <strong>{action}</strong>
        <small>no. {number}</small>
      </>
    ),
  },
  { head: "By", cell: ({ actor }) => actor },
  {
    head: "About",
    cell: ({ account, targets }) => (
      <>
        {account === null ? null : <IdLink id={account} to="accounts" />}
        {targets
          .filter((target) => target !== account)
          .map((target) => (
            <small key={target} title={target}>
              {target.startsWith("job_") ? <IdLink id={target} to="jobs" /> : shortId(target)}
            </small>
          ))}
      </>
    ),
  },
  { head: "Details", cell: ({ fields }) => <Details fields={fields} /> },
  { head: "When", cell: ({ created_at: at }) => <Time at={at} /> },
];

/** What operators did, and why. */
export function AuditLog({ query }: { readonly query: URLSearchParams }) {
  const resource = useResource(
    (signal) =>
      read(
        admin.GET("/admin/v1/audit", {
          signal,
          params: { query: { ...given(query, "account", "action"), limit: LIMIT } },
        }),
      ),
    [query.toString()],
  );
  const where = { path: PATH, query };
  return (
    <View title="Audit log" lead={`What operators did, newest first: the last ${LIMIT} that match.`}>
      <Filters label="Audit log">
        <Search {...where} name="account" label="Account" hint="acct_…" />
        <Search {...where} name="action" label="Action" hint="credits.grant" />
      </Filters>
      <Listed
        caption="Audit log"
        columns={COLUMNS}
        of={resource}
        rows={({ records }) => records}
        keyOf={({ id }) => id}
        empty={<strong>{query.size > 0 ? "No record matches" : "No operator has changed anything yet"}</strong>}
      />
    </View>
  );
}

/** The reason first, then what else was noted. */
function Details({ fields }: { readonly fields: AuditRecord["fields"] }) {
  const { reason, why = reason, ...others } = fields;
  return (
    <>
      {why === null || why === undefined ? null : <div>“{String(why)}”</div>}
      {Object.entries(others).map(([name, value]) =>
        value === null ? null : (
          <small key={name}>
            {name.replaceAll("_", " ")}: {String(value).replaceAll(",", ", ")}
          </small>
        ),
      )}
    </>
  );
}
