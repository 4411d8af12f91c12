import { Button, ErrorNote } from "../../parts/elements.js";
import { useTask } from "../../parts/task.js";
import { admin, read } from "../api.js";
import { Section } from "../shell/view.js";
import { counted } from "../words.js";

/** Follows the chain of the audit log once. */
export function AuditCheck() {
  const { result, error, isBusy, start } = useTask(() => read(admin.POST("/admin/v1/audit/verify", { body: {} })));
  return (
    <Section
      title="Audit log"
      lead="Its records are a chain of hashes. Keep the last one elsewhere: an older chain does not lead to it."
      actions={
        <Button isBusy={isBusy} onClick={start}>
          {isBusy ? "Following the chain" : "Verify"}
        </Button>
      }
    >
      {error === undefined ? null : <ErrorNote error={error} />}
      <div role="status">
        {result === undefined ? null : (
          <p class={`note ${result.broken === null ? "good" : "bad"}`}>
            {result.broken === null
              ? `Whole: ${counted(result.records, "record")}. The last hash is `
              : `Broken at record ${result.broken.number}: ${result.broken.problem}. The last good hash is `}
            <code>{result.head}</code>
          </p>
        )}
      </div>
    </Section>
  );
}
