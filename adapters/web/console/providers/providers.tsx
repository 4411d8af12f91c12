import { useResource } from "../../parts/resource.js";
import { Badge } from "../../parts/badge.js";
import { wholeNumber } from "../../parts/format.js";
import { Facts } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { admin, read, type Schemas } from "../api.js";
import { Loaded, State } from "../shown.js";
import { View } from "../shell/view.js";
import { counted } from "../words.js";

type Provider = Schemas["AdminProvider"];
const EVERY_MS = 5_000;

/** The providers of the settings: whether they work, and what they have to do. */
export function Providers() {
  const resource = useResource((signal) => read(admin.GET("/admin/v1/providers", { signal })), [], {
    everyMs: EVERY_MS,
  });
  return (
    <View title="Providers" lead="Where music is bought, with the circuit breaker of each.">
      <Loaded of={resource}>
        {({ providers }) => (
          <ul class="cards">
            {[...providers]
              .sort((one, other) => Number(other.enabled) - Number(one.enabled))
              .map((provider) => (
                <li key={provider.id} class={`card provider ${provider.enabled ? "" : "off"}`}>
                  <OneProvider provider={provider} />
                </li>
              ))}
          </ul>
        )}
      </Loaded>
    </View>
  );
}

function OneProvider({ provider }: { readonly provider: Provider }) {
  const { id, label, enabled, breaker, work, max_in_flight: inFlight, models, unavailable } = provider;
  return (
    <>
      <header>
        <h2>{label}</h2>
        {enabled ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>}
        <small class="soft">{id}</small>
      </header>
      {breaker.state === "closed" ? null : (
        <p class="note warn">
          The breaker is <State of={breaker.state} /> after {counted(breaker.failures, "failure")}
          {breaker.opened_at === null ? null : (
            <>
              , <Time at={breaker.opened_at} />
            </>
          )}
          {breaker.tries_at === null ? null : (
            <>
              ; the next try is <Time at={breaker.tries_at} />
            </>
          )}
          .
        </p>
      )}
      <Facts
        of={[
          ["Waiting", wholeNumber(work.waiting)],
          ["Submitting", wholeNumber(work.submitting)],
          ["Rendering", wholeNumber(work.rendering)],
          ["At once", inFlight === null ? "no limit" : `at most ${inFlight}`],
          ["Breaker", <State of={breaker.state} />],
          ["Recent failures", String(breaker.failures)],
        ]}
      />
      <p class="models">
        {models.map((model) => (
          <code key={model} class={unavailable.includes(model) ? "is-out" : undefined}>
            {model}
            {unavailable.includes(model) ? " (unavailable)" : ""}
          </code>
        ))}
        {unavailable
          .filter((name) => !models.includes(name))
          .map((name) => (
            <code key={name} class="is-out">
              {name} (unavailable)
            </code>
          ))}
      </p>
      {enabled ? <a href={`#/jobs?provider=${id}`}>Its jobs</a> : null}
    </>
  );
}
