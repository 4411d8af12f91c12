import { Pager } from "../../parts/links.js";
import { useResource } from "../../parts/resource.js";
import { type Column } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { admin, read, type Schemas } from "../api.js";
import { Choice, Filters, given, pagesOf, Search } from "../filter.js";
import { Empty, IdLink, Listed, State } from "../shown.js";
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
  const resource = useResource(
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
      <Listed
        of={resource}
        rows={({ jobs }) => jobs}
        caption="Jobs"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          query.size > 0 ? (
            <Empty title="No job matches">
              <a href={`#${PATH}`}>Show all jobs</a>
            </Empty>
          ) : (
            <Empty title="No jobs yet">They appear here as soon as an account asks for music.</Empty>
          )
        }
      />
      <Pager {...pagesOf(PATH, query, resource.data?.jobs, PAGE)} />
    </View>
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
