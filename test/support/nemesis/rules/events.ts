import { type CheckedRun, grouped, ofJob, type Violation } from "./rule.js";

/** Each job has one event, of its end; each endpoint of its account took it; nothing else arrived. */
export function checkEvents(run: CheckedRun): Violation[] {
  const { events, endpoints, received, jobs } = run.final;
  const byId = new Map(events.map((event) => [event.id, event]));
  const statuses = new Map(jobs.map(({ id, status }) => [id, status]));
  const own = grouped(events, ({ jobId }) => jobId);
  const taken = new Set(received.filter(({ isTaken }) => isTaken).map(({ url, eventId }) => `${url} ${eventId}`));

  const wrong = received.flatMap(({ url, eventId, jobId, type, jobStatus }) => {
    const event = byId.get(eventId);
    const status = statuses.get(jobId);
    const isRight =
      event?.jobId === jobId && event.type === type && jobStatus === status && type.endsWith(`.${status}`);
    return isRight ? [] : [ofJob(run, jobId, `is ${status}, and ${url} got ${eventId}: ${type}, ${jobStatus}`)];
  });
  const missing = jobs.flatMap((job) => {
    const ofIt = own.get(job.id) ?? [];
    if (ofIt.length !== 1) return [ofJob(run, job.id, `has ${ofIt.length} events`)];
    const [event] = ofIt as [(typeof ofIt)[0]];
    return endpoints
      .filter(({ accountId, url }) => accountId === job.accountId && !taken.has(`${url} ${event.id}`))
      .map(({ url }) => ofJob(run, job.id, `has the event ${event.id}, which ${url} did not take`));
  });
  return [...wrong, ...missing];
}
