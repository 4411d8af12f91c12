import { Badge } from "../../parts/badge.js";
import type { Column } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import type { Schemas } from "../api.js";
import { IdLink } from "../shown.js";

type Endpoint = Schemas["AdminEndpoint"];

const DISABLED_BY: Readonly<Record<string, string>> = {
  user: "by its account",
  gone: "its receiver is gone (410)",
  failing: "after days of failures",
};

export const ENDPOINT_COLUMNS: readonly Column<Endpoint>[] = [
  {
    head: "Endpoint",
    kind: "main",
    cell: ({ id, url }) => (
      <>
        <a href={`#/webhooks/${id}`}>{url}</a>
        <small>{id}</small>
      </>
    ),
  },
  { head: "State", cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
  {
    head: "Created",
    cell: ({ created_at: at }) => (at === null ? null : <Time at={at} />),
  },
];

/** With the account, for lists of all. */
export const ALL_ENDPOINT_COLUMNS: readonly Column<Endpoint>[] = [
  ...ENDPOINT_COLUMNS.slice(0, 2),
  { head: "Account", cell: ({ account }) => <IdLink id={account} to="accounts" /> },
  ...ENDPOINT_COLUMNS.slice(2),
];

/** Disabled and by whom, failing and since when, or neither. */
export function EndpointState({ endpoint }: { readonly endpoint: Endpoint }) {
  const { status, disabled_by: by, failing_since: failing } = endpoint;
  if (status === "disabled")
    return (
      <>
        <Badge tone={by === "user" ? "neutral" : "bad"}>Disabled</Badge>
        {by === null ? null : <small>{DISABLED_BY[by]}</small>}
      </>
    );
  if (failing === null) return <Badge tone="good">Active</Badge>;
  return (
    <>
      <Badge tone="warn">Failing</Badge>
      <small>
        since <Time at={failing} />
      </small>
    </>
  );
}
