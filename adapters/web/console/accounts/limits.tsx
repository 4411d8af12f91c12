import { wholeNumber } from "../../parts/format.js";
import { useResource } from "../../parts/resource.js";
import { admin, read, type Schemas } from "../api.js";
import { Loaded } from "../shown.js";
import { Section } from "../shell/view.js";

type Limit = Schemas["AdminRateLimit"];
const EVERY_MS = 5_000;

const KINDS: Readonly<Record<Limit["kind"], readonly [label: string, what: string]>> = {
  read: ["Reads", "all GETs"],
  generation: ["Generations", "POST /generations"],
  write: ["Writes", "uploads and webhook endpoints"],
};

/** What an account may still ask, as it stands now. */
export function Limits({ account, tier }: { readonly account: string; readonly tier: string }) {
  const resource = useResource(
    (signal) => read(admin.GET("/admin/v1/accounts/{id}/rate-limits", { signal, params: { path: { id: account } } })),
    [account, tier],
    { everyMs: EVERY_MS },
  );
  return (
    <Section title="Rate limits" lead={`By the tier ${tier}, for all keys of the account together.`}>
      <Loaded of={resource}>
        {({ rate_limits: limits }) => (
          <ul class="cards">
            {limits.map(({ kind, windows }) => (
              <li key={kind} class="card limits">
                <h3>{KINDS[kind][0]}</h3>
                <p class="soft">{KINDS[kind][1]}</p>
                {windows.map((window) => (
                  <Window key={window.window_seconds} window={window} />
                ))}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  );
}

function Window({
  window: { window_seconds: length, limit, remaining },
}: {
  readonly window: Limit["windows"][number];
}) {
  const words = length === 60 ? "a minute" : length === 86_400 ? "a day" : `${length} s`;
  const used = limit - remaining;
  return (
    <div class="window">
      <span>
        {wholeNumber(used)} of {wholeNumber(limit)} {words}
      </span>
      <meter min={0} max={limit} high={limit * 0.9} value={used} aria-label={`Used of ${words}`} />
    </div>
  );
}
