import { Tabs } from "../../parts/links.js";
import { useResource } from "../../parts/resource.js";
import { wholeNumber } from "../../parts/format.js";
import { Facts } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { admin, read, type Schemas } from "../api.js";
import { AccountMusic } from "../music/account-music.js";
import { Loaded, WholeId } from "../shown.js";
import { View } from "../shell/view.js";
import { AccountActions } from "./account-actions.js";
import { AccountEndpoints } from "./account-endpoints.js";
import { DeletionNote } from "./account-removal.js";
import { AccountState } from "./account-list.js";
import { Keys } from "./keys.js";
import { Ledger } from "./ledger.js";
import { Limits } from "./limits.js";

type Account = Schemas["AdminAccountReport"];

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
            {loaded.deletion === null ? null : <DeletionNote deletion={loaded.deletion} />}
            <Summary account={loaded} />
            <Parts account={loaded} tab={tab} query={query} onChange={reload} />
          </>
        )}
      </Loaded>
    </View>
  );
}

interface PartsProps {
  readonly account: Account;
  readonly tab: string;
  readonly query: URLSearchParams;
  readonly onChange: () => void;
}

/** Of a deleted account nothing is left but its ledger. */
function Parts({ account, tab, query, onChange }: PartsProps) {
  const { id, name, tier, deleted_at: deleted } = account;
  const shown = deleted === null ? tab : "ledger";
  return (
    <>
      <Tabs
        label="Parts of the account"
        tabs={[
          ...TABS.filter(([part]) => deleted === null || part === "ledger").map(([part, label]) => ({
            label,
            href: `#/accounts/${id}/${part}`,
            isCurrent: part === shown,
          })),
          { label: "Jobs", href: `#/jobs?account=${id}`, isCurrent: false },
          { label: "Audit log", href: `#/audit?account=${id}`, isCurrent: false },
        ]}
      />
      {shown === "keys" ? <Keys account={id} name={name} /> : null}
      {shown === "ledger" ? <Ledger account={account} query={query} onChange={onChange} /> : null}
      {shown === "limits" ? <Limits account={id} tier={tier} /> : null}
      {shown === "music" ? <AccountMusic account={account} query={query} onChange={onChange} /> : null}
      {shown === "webhooks" ? <AccountEndpoints account={id} /> : null}
    </>
  );
}

const TABS = [
  ["keys", "Keys"],
  ["ledger", "Credits"],
  ["music", "Music"],
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
