import { Tabs } from "../../parts/links.js";
import { useResource } from "../../parts/resource.js";
import { wholeNumber } from "../../parts/format.js";
import { Facts } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { admin, read, type Schemas } from "../api.js";
import { Loaded, WholeId } from "../shown.js";
import { View } from "../shell/view.js";
import { AccountActions } from "./account-actions.js";
import { AccountEndpoints } from "./account-endpoints.js";
import { AccountState } from "./account-list.js";
import { Keys } from "./keys.js";
import { Ledger } from "./ledger.js";
import { Limits } from "./limits.js";

type Account = Schemas["AdminAccount"] & { readonly credits: Schemas["AdminBalance"] };

interface AccountPageProps {
  readonly id: string;
  readonly tab: string;
  readonly query: URLSearchParams;
}

/** An account: its credits, and in parts with addresses of their own its keys, ledger and endpoints. */
export function AccountPage({ id, tab, query }: AccountPageProps) {
  const resource = useResource(
    (signal) => read(admin.GET("/admin/v1/accounts/{id}", { signal, params: { path: { id } } })),
    [id],
  );
  const { data: account, reload } = resource;
  return (
    <View
      title={account?.name ?? "Account"}
      kind="Account:"
      parent={{ label: "Accounts", href: "#/accounts" }}
      aside={account === undefined ? null : <AccountState account={account} />}
      lead={<WholeId id={id} />}
      actions={account === undefined ? null : <AccountActions account={account} onDone={reload} />}
    >
      <Loaded of={resource}>
        {(loaded) => (
          <>
            <Summary account={loaded} />
            <Tabs
              label="Parts of the account"
              tabs={[
                ...TABS.map(([name, text]) => ({
                  label: text,
                  href: `#/accounts/${id}/${name}`,
                  isCurrent: name === tab,
                })),
                { label: "Jobs", href: `#/jobs?account=${id}`, isCurrent: false },
                { label: "Audit log", href: `#/audit?account=${id}`, isCurrent: false },
              ]}
            />
            {tab === "keys" ? <Keys account={id} name={loaded.name} /> : null}
            {tab === "ledger" ? <Ledger account={id} tier={loaded.tier} query={query} onChange={reload} /> : null}
            {tab === "limits" ? <Limits account={id} tier={loaded.tier} /> : null}
            {tab === "webhooks" ? <AccountEndpoints account={id} /> : null}
          </>
        )}
      </Loaded>
    </View>
  );
}

const TABS = [
  ["keys", "Keys"],
  ["ledger", "Credits"],
  ["webhooks", "Webhooks"],
  ["limits", "Limits"],
] as const;

function Summary({ account }: { readonly account: Account }) {
  const { credits } = account;
  return (
    <div class="card summary">
      <p class="big">
        <strong>{wholeNumber(credits.available)}</strong> credits available
      </p>
      <Facts
        of={[
          ["Monthly", wholeNumber(credits.monthly)],
          ["Pack", wholeNumber(credits.pack)],
          ["Reserved", wholeNumber(credits.reserved)],
          ["Spent", wholeNumber(credits.spent)],
          ["Jobs running", String(credits.running_jobs)],
          ["Tier", account.tier],
          ["External id", account.external_id],
          ["Terms", account.terms_accepted_at === null ? "not accepted" : <Time at={account.terms_accepted_at} />],
          ["Created", <Time at={account.created_at} />],
        ]}
      />
    </div>
  );
}
