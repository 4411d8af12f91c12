import { Pager } from "../../parts/links.js";
import { useResource } from "../../parts/resource.js";
import { Time } from "../../parts/time.js";
import { Action } from "../action.js";
import { admin, read, type Schemas } from "../api.js";
import { Choice, Filters, given, pagesOf } from "../filter.js";
import { Empty, Loaded, State } from "../shown.js";
import { Section } from "../shell/view.js";
import { outcomeOf } from "./endpoint-actions.js";

type Delivery = Schemas["AdminDelivery"];
const PAGE = 20;
const EVERY_MS = 10_000;

const STATES = [
  ["", "Any state"],
  ["pending", "Pending"],
  ["delivered", "Delivered"],
  ["exhausted", "Gave up"],
  ["dropped", "Dropped"],
] as const;

interface DeliveriesProps {
  readonly endpoint: string;
  readonly query: URLSearchParams;
  /** The endpoint may have changed. */
  readonly onChange: () => void;
}

/** What was, or is to be, sent to an endpoint, with every attempt. */
export function Deliveries({ endpoint, query, onChange }: DeliveriesProps) {
  const path = `/webhooks/${endpoint}`;
  const resource = useResource(
    (signal) =>
      read(
        admin.GET("/admin/v1/webhook-endpoints/{id}/deliveries", {
          signal,
          params: { path: { id: endpoint }, query: { ...(given(query, "state", "after") as object), limit: PAGE } },
        }),
      ),
    [endpoint, query.toString()],
    { everyMs: query.has("after") ? undefined : EVERY_MS },
  );
  const changed = (): void => {
    resource.reload();
    onChange();
  };
  return (
    <Section
      title="Deliveries"
      actions={
        <>
          <ResendAll deliveries={resource.data?.deliveries ?? []} onDone={changed} />
          <Filters label="Deliveries">
            <Choice path={path} query={query} name="state" label="State" choices={STATES} />
          </Filters>
        </>
      }
    >
      <Loaded of={resource}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <div class="empty">
              <Empty title="No deliveries">
                {query.size > 0 ? <a href={`#${path}`}>Show all deliveries</a> : "One is made whenever a job ends."}
              </Empty>
            </div>
          ) : (
            <ol class="deliveries">
              {deliveries.map((delivery) => (
                <li key={delivery.id} class="card">
                  <OneDelivery delivery={delivery} onDone={changed} />
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
      <Pager {...pagesOf(path, query, resource.data?.deliveries, PAGE)} />
    </Section>
  );
}

function OneDelivery({ delivery, onDone }: { readonly delivery: Delivery; readonly onDone: () => void }) {
  const { id, event, state, created_at: created, due_at: due, attempts } = delivery;
  return (
    <>
      <header>
        <h3>
          <code>{event}</code>
        </h3>
        <State of={state} />
        <span class="soft">
          created <Time at={created} />
          {due === null ? null : (
            <>
              , next attempt <Time at={due} />
            </>
          )}
        </span>
        <Resend id={id} event={event} onDone={onDone} />
      </header>
      {attempts.length === 0 ? (
        <p class="soft">Not tried yet.</p>
      ) : (
        <ol class="attempts" aria-label="Attempts">
          {attempts.map((attempt) => (
            <Attempt key={attempt.number} attempt={attempt} />
          ))}
        </ol>
      )}
    </>
  );
}

function Attempt({ attempt }: { readonly attempt: Schemas["AdminDeliveryAttempt"] }) {
  const { number, started_at: started, manual, failure, status, message, excerpt, total_ms: ms } = attempt;
  return (
    <li class={failure === null ? "good" : "bad"}>
      <span>
        <strong>
          {number}. {failure === null ? "Delivered" : `Failed: ${failure}`}
        </strong>
        {status === null ? null : <>, status {status}</>}
      </span>
      <span class="soft">
        <Time at={started} />, {ms} ms{manual ? ", by an operator" : ""}
      </span>
      {message === null ? null : <p>{message}</p>}
      {excerpt === "" ? null : <pre aria-label="Beginning of the response">{excerpt}</pre>}
    </li>
  );
}

/** Sends those of this page once more that no receiver got, the oldest first, one after another. */
function ResendAll({ deliveries, onDone }: { readonly deliveries: readonly Delivery[]; readonly onDone: () => void }) {
  const lost = deliveries.filter(({ state }) => state === "exhausted" || state === "dropped").reverse();
  if (lost.length < 2) return null;
  return (
    <Action
      label={`Resend these ${lost.length}…`}
      needs="operate"
      title="Resend what was not delivered"
      submit="Send"
      run={async (_, headers) => {
        let delivered = 0;
        for (const { id } of lost) {
          const params = { path: { id } };
          const { failure } = await read(admin.POST("/admin/v1/webhook-deliveries/{id}/resend", { params, headers }));
          if (failure === null) delivered += 1;
        }
        return { says: `${delivered} of ${lost.length} delivered.`, isBad: delivered < lost.length };
      }}
      onDone={onDone}
    >
      <p>
        The {lost.length} deliveries of this page that gave up or were dropped are sent once more, the oldest first, one
        after another. Receivers know each by its id.
      </p>
    </Action>
  );
}

function Resend({ id, event, onDone }: { readonly id: string; readonly event: string; readonly onDone: () => void }) {
  return (
    <Action
      label="Resend…"
      needs="operate"
      title="Resend this delivery"
      submit="Send"
      run={async (_, headers) =>
        outcomeOf(
          await read(admin.POST("/admin/v1/webhook-deliveries/{id}/resend", { params: { path: { id } }, headers })),
        )
      }
      onDone={onDone}
    >
      <p>
        The event <code>{event}</code> is sent once more, now: the same bytes, signed again. Receivers know it by its
        id; its own schedule stays as it is.
      </p>
    </Action>
  );
}
