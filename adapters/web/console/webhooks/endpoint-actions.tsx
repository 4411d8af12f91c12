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

/** What came of a delivery attempt. */
export function outcomeOf(attempt: Schemas["AdminDeliveryAttempt"]): Outcome {
  const { failure, status, message, total_ms: ms } = attempt;
  if (failure === null) return { says: `Delivered: status ${status} after ${ms} ms.` };
  const how = status === null ? failure : `${failure}, status ${status}`;
  return { says: `Not delivered after ${ms} ms: ${how}. ${message ?? ""}`, isBad: true };
}
