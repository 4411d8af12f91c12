import { Action, type Outcome } from "../action.js";
import { admin, read, type Schemas } from "../api.js";

interface EndpointActionsProps {
  readonly endpoint: Schemas["AdminEndpoint"];
  readonly onDone: () => void;
}

export function EndpointActions({ endpoint: { id, status }, onDone }: EndpointActionsProps) {
  const params = { path: { id } };
  return (
    <>
      {status === "disabled" ? null : (
        <Action
          label="Ping…"
          needs="operate"
          title="Ping this endpoint"
          submit="Send"
          run={async (_, headers) =>
            outcomeOf(await read(admin.POST("/admin/v1/webhook-endpoints/{id}/ping", { params, headers })))
          }
          onDone={onDone}
        >
          <p>
            One event <code>webhook.ping</code> is sent to it now, signed like any other.
          </p>
        </Action>
      )}
      {status === "disabled" ? null : <ResendSince id={id} onDone={onDone} />}
      <Action
        label="Rotate the secret…"
        needs="operate"
        title="Rotate the signing secret"
        submit="Rotate"
        look="danger"
        fields={[
          {
            name: "overlap_hours",
            label: "The old secret signs as well for",
            choices: [
              ["0", "no time: it has leaked"],
              ["24", "24 hours"],
              ["168", "7 days"],
            ],
            initial: "24",
          },
        ]}
        run={async ({ overlap_hours: hours = "24" }, headers) => {
          const body = { overlap_hours: Number(hours) };
          const { signing_secret: secret } = await read(
            admin.POST("/admin/v1/webhook-endpoints/{id}/rotate-secret", { params, headers, body }),
          );
          return {
            says: "This is the new secret. It is shown this once: pass it to the account.",
            secret,
            what: "the secret",
          };
        }}
        onDone={onDone}
      >
        <p>
          Deliveries are signed with a new secret from now on. The receiver has to know it before the old one stops
          signing, or it <strong>refuses every delivery</strong>.
        </p>
      </Action>
    </>
  );
}

const DAY_MS = 86_400_000;

function ResendSince({ id, onDone }: { readonly id: string; readonly onDone: () => void }) {
  const params = { path: { id } };
  return (
    <Action
      label="Resend since…"
      needs="operate"
      title="Resend what was not delivered"
      submit="Send"
      fields={[
        {
          name: "days",
          label: "What was created in",
          choices: [
            ["1", "the last day"],
            ["3", "the last 3 days"],
            ["7", "the last 7 days"],
            ["13.9", "the last 14 days"],
          ],
          initial: "1",
        },
      ]}
      run={async ({ days = "1" }, headers) => {
        const since = new Date(Date.now() - Number(days) * DAY_MS).toISOString();
        let [sent, delivered, after]: [number, number, string | null] = [0, 0, null];
        for (let more = true; more;) {
          const body: Schemas["ResendRequest"] = { since, ...(after === null ? {} : { after }) };
          const part = await read(admin.POST("/admin/v1/webhook-endpoints/{id}/resend", { params, headers, body }));
          [sent, delivered, after, more] = [sent + part.sent, delivered + part.delivered, part.last, part.more];
        }
        return { says: `${delivered} of ${sent} delivered.`, isBad: delivered < sent };
      }}
      onDone={onDone}
    >
      <p>
        Deliveries that gave up or were dropped are sent once more, the oldest first, one after another: as long as it
        takes. Receivers know each by its id.
      </p>
    </Action>
  );
}

/** What came of a delivery attempt. */
export function outcomeOf(attempt: Schemas["AdminDeliveryAttempt"]): Outcome {
  const { failure, status, message, total_ms: ms } = attempt;
  if (failure === null) return { says: `Delivered: status ${status} after ${ms} ms.` };
  const how = status === null ? failure : `${failure}, status ${status}`;
  return { says: `Not delivered after ${ms} ms: ${how}. ${message ?? ""}`, isBad: true };
}
