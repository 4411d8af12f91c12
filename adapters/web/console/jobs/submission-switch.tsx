import { useResource } from "../../parts/resource.js";
import { Action } from "../action.js";
import { admin, read } from "../api.js";

/** Pauses and resumes the buying of new work; while it is paused every view of jobs says so. */
export function SubmissionSwitch() {
  const { data, reload } = useResource((signal) => read(admin.GET("/admin/v1/submissions", { signal })), []);
  if (data === undefined) return null;
  const isPaused = data.state === "paused";
  return (
    <>
      {isPaused ? <span class="note warn">Submissions are paused: nothing new is bought.</span> : null}
      <Action
        label={isPaused ? "Resume submissions…" : "Pause submissions…"}
        needs="operate"
        title={isPaused ? "Resume submissions" : "Pause submissions"}
        submit={isPaused ? "Resume" : "Pause"}
        look={isPaused ? "primary" : "danger"}
        run={async (_, headers) => {
          const state = isPaused ? "active" : "paused";
          await read(admin.PUT("/admin/v1/submissions", { body: { state }, headers }));
          return isPaused ? "Submissions go on." : "Submissions are paused.";
        }}
        onDone={reload}
      >
        {isPaused ? (
          <p>Waiting jobs are bought at providers again, in all processes within seconds.</p>
        ) : (
          <p>
            Nothing new is bought at providers, in all processes within seconds. Jobs are still accepted, and their
            credits reserved; <strong>they wait until you resume</strong>. What providers already have goes on and is
            charged.
          </p>
        )}
      </Action>
    </>
  );
}
