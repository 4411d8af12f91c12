import { navigate } from "../../parts/route.js";
import { Action } from "../action.js";
import { admin, read, type Schemas } from "../api.js";
import { counted } from "../words.js";

const CANCELLED = {
  cancelled: "The job is cancelled, and its credits are refunded.",
  running: "Its provider has not confirmed it yet: the job runs on, and is refunded if it fails.",
  ended: "The job had ended before; nothing was changed.",
} as const;

/** What can be done with a job as it is. */
export function JobActions({ job, onDone }: { readonly job: Schemas["AdminJob"]; readonly onDone: () => void }) {
  const { id, status, credits_charged: charged } = job;
  const credits = counted(charged, "credit");
  const cancel = async (force: boolean, headers: { "X-Reason"?: string }): Promise<string> => {
    const params = { path: { id } };
    const { outcome } = await read(
      admin.POST("/admin/v1/jobs/{id}/cancel", { params, body: force ? { force } : {}, headers }),
    );
    return CANCELLED[outcome];
  };
  if (status === "failed")
    return (
      <Action
        label="Retry…"
        look="primary"
        needs="operate"
        title="Retry this job"
        submit="Retry"
        run={async (_, headers) => {
          const params = { path: { id } };
          const { job: next, repeated } = await read(admin.POST("/admin/v1/jobs/{id}/retry", { params, headers }));
          navigate(`/jobs/${next.id}`);
          return repeated ? "It was retried before: this is that job." : "The new job is accepted.";
        }}
        onDone={onDone}
      >
        <p>
          The same request is accepted once more, as <strong>a new job that the account pays</strong>. This job stays as
          it is. A second retry of it returns the same new job.
        </p>
      </Action>
    );
  if (status === "completed") return null;
  return (
    <>
      <Action
        label="Cancel…"
        needs="operate"
        title="Cancel this job"
        submit="Cancel the job"
        look="danger"
        run={(_, headers) => cancel(false, headers)}
        onDone={onDone}
      >
        <p>
          While nothing is bought it ends at once, and <strong>{credits}</strong> go back to the account. What a
          provider has is cancelled there where that is possible, and refunded when it confirms; otherwise it runs to
          its end and is charged if it completes.
        </p>
      </Action>
      <Action
        label="End now…"
        needs="operate"
        title="End this job now"
        submit="End and refund"
        look="danger"
        run={(_, headers) => cancel(true, headers)}
        onDone={onDone}
      >
        <p>
          The job ends as failed and <strong>{credits}</strong> go back to the account, whatever its provider does. What
          was bought is lost: the provider may still deliver it, and <strong>bills you for it</strong>.
        </p>
      </Action>
    </>
  );
}
