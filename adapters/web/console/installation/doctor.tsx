import { Button } from "../../parts/elements.js";
import { useResource } from "../../parts/resource.js";
import { admin, read, type Schemas } from "../api.js";
import { Loaded, State } from "../shown.js";
import { View } from "../shell/view.js";

type Check = Schemas["AdminCheck"];
const ORDER: Readonly<Record<Check["result"], number>> = { failed: 0, warning: 1, ok: 2 };

/** What `fermata doctor` finds, what is wrong first. */
export function Doctor() {
  const resource = useResource((signal) => read(admin.GET("/admin/v1/doctor", { signal })), []);
  const { reload, isLoading } = resource;
  return (
    <View
      title="Doctor"
      lead="Checks the whole installation, every provider key that can be checked included."
      actions={
        <Button onClick={reload} isBusy={isLoading}>
          {isLoading ? "Checking" : "Check again"}
        </Button>
      }
    >
      <Loaded of={resource}>
        {({ checks }) => (
          <>
            <p class={`note ${worstOf(checks)}`} role="status">
              {summaryOf(checks)}
            </p>
            <ul class="checks">
              {[...checks]
                .sort((one, other) => ORDER[one.result] - ORDER[other.result])
                .map((check) => (
                  <li key={check.name + check.message} class="card">
                    <State of={check.result} />
                    <div>
                      <h2>{check.name}</h2>
                      <p>{check.message}</p>
                      {check.fix === null ? null : <p class="fix">{check.fix}</p>}
                    </div>
                  </li>
                ))}
            </ul>
          </>
        )}
      </Loaded>
    </View>
  );
}

function worstOf(checks: readonly Check[]): string {
  if (checks.some(({ result }) => result === "failed")) return "bad";
  return checks.some(({ result }) => result === "warning") ? "warn" : "good";
}

function summaryOf(checks: readonly Check[]): string {
  const count = (wanted: Check["result"]): number => checks.filter(({ result }) => result === wanted).length;
  const [failed, warnings] = [count("failed"), count("warning")];
  if (failed + warnings === 0) return `All ${checks.length} checks are in order.`;
  return `${failed} failed, ${warnings} with a warning, ${count("ok")} in order.`;
}
