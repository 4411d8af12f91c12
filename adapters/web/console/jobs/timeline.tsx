import { moment } from "../../parts/format.js";
import { describe, type TimelineEvent } from "./timeline-words.js";

export type { TimelineEvent } from "./timeline-words.js";

/** All that happened to a job, each with the time since it was accepted. */
export function Timeline({ events }: { readonly events: readonly TimelineEvent[] }) {
  const begin = Date.parse(events[0]?.at ?? "");
  return (
    <ol class="timeline">
      {events.map((event) => {
        const { tone, title, details, link } = describe(event);
        return (
          <li key={event.id} class={tone}>
            <time dateTime={event.at} title={moment(event.at)}>
              {since(Date.parse(event.at) - begin)}
            </time>
            <div>
              <strong>{title}</strong>
              {details.map((text) => (
                <p key={text}>{text}</p>
              ))}
              {link === undefined ? null : <a href={link.href}>{link.label}</a>}
            </div>
          </li>
        );
      })}
    </ol>
  );
}

/** `+0.2 s`, `+1 min 5 s`, `+2 h 3 min`. */
function since(ms: number): string {
  if (ms < 60_000) return `+${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `+${hours} h ${minutes} min` : `+${minutes} min ${seconds % 60} s`;
}
