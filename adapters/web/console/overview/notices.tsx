import type { Schemas } from "../api.js";
import { Time } from "../../parts/time.js";
import { counted } from "../words.js";

/** What an operator has to look at; nothing while there is nothing. */
export function Notices({ overview }: { readonly overview: Schemas["AdminOverview"] }) {
  const { providers, ledger } = overview;
  const broken = providers.filter(({ breaker }) => breaker.state !== "closed");
  return (
    <>
      {ledger === null || ledger.violations === 0 ? null : (
        <p class="note bad">
          The ledger has {counted(ledger.violations, "violation")}, found <Time at={ledger.checked_at} />: run{" "}
          <code>fermata ledger verify</code>.
        </p>
      )}
      {broken.map(({ id, label, breaker }) => (
        <p key={id} class="note warn">
          The circuit breaker of <a href="#/providers">{label}</a> is {breaker.state.replace("_", " ")} after{" "}
          {counted(breaker.failures, "failure")}.
        </p>
      ))}
    </>
  );
}
