import { BASE_URL } from "../../parts/base.js";
import { Time } from "../../parts/time.js";
import { Action } from "../action.js";
import { admin, read, type Schemas } from "../api.js";
import { may } from "../session.js";

interface RemovalProps {
  readonly account: Schemas["AdminAccountReport"];
  readonly onDone: () => void;
}

/** Takes a copy of all that is kept of an account, and deletes it. */
export function Removal({ account: { id, name, credits, deleted_at: deleted }, onDone }: RemovalProps) {
  return (
    <>
      {may("owner") ? (
        <a class="button" href={`${BASE_URL}admin/v1/accounts/${id}/export`} download>
          Export
        </a>
      ) : null}
      {deleted === null ? (
        <Action
          label="Delete…"
          needs="owner"
          title={`Delete ${name}`}
          submit="Delete for good"
          look="danger"
          typed={name}
          run={async (_, headers) => {
            await read(admin.DELETE("/admin/v1/accounts/{id}", { params: { path: { id } }, headers }));
            return `${name} is being deleted.`;
          }}
          onDone={onDone}
        >
          <p>
            Within a second its keys, share pages and audio links are refused, and its {credits.running_jobs} running
            jobs are cancelled. Within minutes its tracks, prompts, endpoints and log are erased. Its{" "}
            <strong>{credits.available.toLocaleString("en")} credits are lost</strong>; the ledger stays.
          </p>
          <p>
            <strong>This cannot be taken back.</strong> Export the account first if anything of it may be needed.
          </p>
        </Action>
      ) : null}
    </>
  );
}

/** How far the deletion of an account is. */
export function DeletionNote({ deletion }: { readonly deletion: Schemas["AdminDeletion"] }) {
  const { requested_at: requested, erased_at: done, erased } = deletion;
  const counts = Object.entries(erased).map(([kind, count]) => `${count} ${kind.replaceAll("_", " ")}`);
  return (
    <p class="note warn">
      <strong>Deleted</strong> <Time at={requested} />.{" "}
      {done === null ? (
        "What is stored of it is being erased"
      ) : (
        <>
          All but its ledger was erased <Time at={done} />
        </>
      )}
      {counts.length === 0 ? "" : `: ${counts.join(", ")}`}.
    </p>
  );
}
