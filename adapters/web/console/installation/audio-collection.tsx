import { Button, ErrorNote } from "../../parts/elements.js";
import { Facts } from "../../parts/table.js";
import { useTask } from "../../parts/task.js";
import { Action } from "../action.js";
import { admin, read, type Schemas } from "../api.js";
import { may } from "../session.js";
import { Section } from "../shell/view.js";
import { counted } from "../words.js";

type Collection = Schemas["AdminCollection"];

/** Counts and deletes audio files that lost workers and unfinished uploads left behind. */
export function AudioCollection() {
  const { result, error, isBusy, start } = useTask(() =>
    read(admin.POST("/admin/v1/audio/collect", { body: { dry_run: true } })),
  );
  return (
    <Section
      title="Stored audio"
      lead="Files that lost workers and unfinished uploads left behind. Workers delete them every hour."
      actions={
        may("operate") ? (
          <>
            <Button isBusy={isBusy} onClick={start}>
              {isBusy ? "Counting" : "Count"}
            </Button>
            <Delete onDone={start} />
          </>
        ) : null
      }
    >
      {error === undefined ? null : <ErrorNote error={error} />}
      <div role="status">{result === undefined ? null : <Counted of={result} />}</div>
    </Section>
  );
}

function Counted({ of }: { readonly of: Collection }) {
  const { listed, found, left_alone_recent: recent, left_alone_unknown: unknown } = of;
  return (
    <div class="card">
      <Facts
        of={[
          ["Looked at", amount(listed)],
          ["Left behind", amount(found)],
          ["Written within the hour", recent.files === 0 ? null : `${amount(recent)}, left alone`],
          ["Of no known job", unknown.files === 0 ? null : `${amount(unknown)}, left alone`],
        ]}
      />
    </div>
  );
}

function Delete({ onDone }: { readonly onDone: () => void }) {
  return (
    <Action
      label="Delete what was left behind…"
      needs="operate"
      title="Delete what was left behind"
      submit="Delete"
      look="danger"
      run={async (_, headers) => {
        const { deleted, failed } = await read(admin.POST("/admin/v1/audio/collect", { body: {}, headers }));
        if (failed.files === 0) return `${amount(deleted)} deleted.`;
        return {
          says: `${amount(deleted)} deleted; ${amount(failed)} could not be: the log says why.`,
          isBad: true,
        };
      }}
      onDone={onDone}
    >
      <p>
        Files that no track and no split names are deleted <strong>for good</strong>. Those of running jobs, of the last
        hour, and of jobs that this installation does not know are left alone.
      </p>
    </Action>
  );
}

/** `3 files (4.2 MB)`. */
function amount({ files, bytes }: { readonly files: number; readonly bytes: number }): string {
  return `${counted(files, "file")} (${(bytes / 1_000_000).toLocaleString("en", { maximumFractionDigits: 1 })} MB)`;
}
