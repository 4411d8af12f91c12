import { useEffect, useState } from "preact/hooks";
import { clockTime } from "../../parts/format.js";
import { type Resource, useResource } from "../../parts/resource.js";
import { Facts } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { admin, read, type Schemas } from "../api.js";
import { IdLink, Loaded, State, WholeId } from "../shown.js";
import { Section, View } from "../shell/view.js";
import { counted, KINDS } from "../words.js";
import { JobActions } from "./job-actions.js";
import { OutlookNote } from "./outlook.js";
import { Timeline, type TimelineEvent } from "./timeline.js";

type Report = Schemas["AdminJobReport"];
const EVERY_MS = 2_000;
/** Deliveries are tried for some time after the end. */
const FOLLOWED_MS = 120_000;

/** A job: what was asked for, all that happened, what came of it. It is followed until it has ended. */
export function JobPage({ id }: { readonly id: string }) {
  const resource = useJob(id);
  const { data } = resource;
  return (
    <View
      title={data === undefined ? "Job" : (KINDS[data.job.kind] ?? data.job.kind)}
      kind="Job:"
      parent={{ label: "Jobs", href: "#/jobs" }}
      aside={data === undefined ? null : <State of={data.job.status} />}
      lead={<WholeId id={id} />}
      actions={data === undefined ? null : <JobActions job={data.job} onDone={resource.reload} />}
    >
      <Loaded of={resource}>{(report) => <JobReport report={report} />}</Loaded>
    </View>
  );
}

function useJob(id: string): Resource<Report> {
  const [isFollowed, setFollowed] = useState(true);
  const resource = useResource(
    (signal) => read(admin.GET("/admin/v1/jobs/{id}", { signal, params: { path: { id } } })),
    [id],
    { everyMs: isFollowed ? EVERY_MS : undefined },
  );
  const ended = resource.data?.job.ended_at;
  useEffect(() => {
    setFollowed(ended === null || ended === undefined || Date.now() - Date.parse(ended) < FOLLOWED_MS);
  }, [resource.data, ended]);
  return resource;
}

function JobReport({ report: { job, shown, request, timeline } }: { readonly report: Report }) {
  return (
    <>
      {job.error === null ? null : (
        <p class="note bad">
          <strong>{job.error.code}</strong>: {job.error.message}
        </p>
      )}
      <OutlookNote outlook={timeline.outlook} />
      <div class="card">
        <Facts
          of={[
            ["Account", <IdLink id={job.account} to="accounts" />],
            ["Model", job.model],
            ["Provider", job.provider],
            ["Charged", counted(job.credits_charged, "credit")],
            ["Attempts", String(job.attempts)],
            ["Accepted", <Time at={job.created_at} />],
            ["Ended", job.ended_at === null ? null : <Time at={job.ended_at} />],
            ["Took", job.ended_at === null ? null : tookOf(job.created_at, job.ended_at)],
            ["Cancel requested", job.cancel_requested_at === null ? null : <Time at={job.cancel_requested_at} />],
          ]}
        />
      </div>
      <div class="columns">
        <Section title="Timeline">
          <Timeline events={timeline.events as unknown as readonly TimelineEvent[]} />
        </Section>
        <div>
          <Section title="Request">
            <div class="card">
              <Facts of={Object.entries(request).flatMap(([name, value]) => factOf(name, value))} />
            </div>
          </Section>
          {shown.outputs.length === 0 ? null : (
            <Section title="Files">
              <ul class="files">
                {shown.outputs.map((file) => (
                  <li key={file.url}>
                    <a href={file.url} target="_blank" rel="noreferrer">
                      {file.type === "track" ? "Track" : "Stem"}: {file.label}
                    </a>
                    <small>
                      {file.content_type}
                      {file.duration === null ? "" : `, ${clockTime(file.duration)}`}
                    </small>
                    {file.track_id === null ? null : (
                      <small>
                        of <IdLink id={file.track_id} to="music" />
                      </small>
                    )}
                  </li>
                ))}
              </ul>
            </Section>
          )}
        </div>
      </div>
    </>
  );
}

/** What was not given, and what says nothing, is left out. */
function factOf(name: string, value: unknown): [string, string][] {
  if (value === null || value === undefined || value === false || value === "") return [];
  if (typeof value === "object" && Object.keys(value).length === 0) return [];
  const words = name.replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll("_", " ");
  const label = `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  return [[label, value === true ? "yes" : typeof value === "string" ? value : JSON.stringify(value)]];
}

function tookOf(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : clockTime(ms / 1_000);
}
