import { Pager } from "../../parts/links.js";
import { useResource } from "../../parts/resource.js";
import { type Column, Table } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { admin, read, type Schemas } from "../api.js";
import { Choice, Filters, given, pagesOf, Search } from "../filter.js";
import { IdLink, Retry, State } from "../shown.js";
import { View } from "../shell/view.js";
import { counted, KINDS } from "../words.js";
import { SubmissionSwitch } from "./submission-switch.js";

type Job = Schemas["AdminJob"];
const PATH = "/jobs";
const PAGE = 25;
const EVERY_MS = 5_000;

const COLUMNS: readonly Column<Job>[] = [
  { head: "Job", kind: "main", cell: ({ id }) => <IdLink id={id} to="jobs" /> },
  { head: "State", cell: (job) => <JobState job={job} /> },
  {
    head: "Work",
    cell: ({ kind, model }) => (
      <>
        {model}
        {kind === "music" ? null : <small>{KINDS[kind]}</small>}
      </>
    ),
  },
  { head: "Account", cell: ({ account }) => <IdLink id={account} to="accounts" /> },
  { head: "Attempts", kind: "number", cell: ({ attempts }) => attempts },
  { head: "Charged", kind: "number", cell: ({ credits_charged: charged }) => counted(charged, "credit") },
  { head: "Accepted", cell: ({ created_at: at }) => <Time at={at} /> },
];

/** Jobs of all accounts, or of those that the address selects; the first page follows what happens. */
export function JobList({ query }: { readonly query: URLSearchParams }) {
  const { data, error, reload, isLoading } = useResource(
    (signal) =>
      read(
        admin.GET("/admin/v1/jobs", {
          signal,
          params: {
            query: { ...(given(query, "status", "kind", "provider", "account", "after") as object), limit: PAGE },
          },
        }),
      ),
    [query.toString()],
    { everyMs: query.has("after") ? undefined : EVERY_MS },
  );
  const where = { path: PATH, query };
  return (
    <View title="Jobs" lead="Every generation and split, newest first." actions={<SubmissionSwitch />}>
      <Filters label="Jobs">
        <Choice {...where} name="status" label="State" choices={STATUSES} />
        <Choice {...where} name="kind" label="Kind" choices={[["", "Any kind"], ...Object.entries(KINDS)]} />
        <Search {...where} name="provider" label="Provider" hint="Its id" />
        <Search {...where} name="account" label="Account" hint="acct_…" />
      </Filters>
      {error === undefined ? null : <Retry error={error} reload={reload} isLoading={isLoading} />}
      {error !== undefined && data === undefined ? null : <JobTable rows={data?.jobs} isFiltered={query.size > 0} />}
      <Pager {...pagesOf(PATH, query, data?.jobs, PAGE)} />
    </View>
  );
}

function JobTable({ rows, isFiltered }: { readonly rows: readonly Job[] | undefined; readonly isFiltered: boolean }) {
  return (
    <Table
      caption="Jobs"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ id }) => id}
      empty={
        isFiltered ? (
          <>
            <strong>No job matches</strong>
            <a href={`#${PATH}`}>Show all jobs</a>
          </>
        ) : (
          <>
            <strong>No jobs yet</strong>
            They appear here as soon as an account asks for music.
          </>
        )
      }
    />
  );
}

const STATUSES = [
  ["", "Any state"],
  ["queued", "Queued"],
  ["processing", "Processing"],
  ["completed", "Completed"],
  ["failed", "Failed"],
] as const;

/** The state, with what is finer than it, and the reason of a failure. */
export function JobState({ job: { status, phase, error } }: { readonly job: Job }) {
  return (
    <>
      <State of={status} />
      {status === "processing" ? <small>{phase}</small> : null}
      {error === null ? null : <small>{error.message}</small>}
    </>
  );
}
