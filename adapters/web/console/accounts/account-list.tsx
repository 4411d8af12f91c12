import { Badge } from "../../parts/badge.js";
import { Pager } from "../../parts/links.js";
import { navigate } from "../../parts/route.js";
import { useResource } from "../../parts/resource.js";
import { type Column } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { Action } from "../action.js";
import { admin, read, type Schemas } from "../api.js";
import { Choice, Filters, given, pagesOf, Search } from "../filter.js";
import { may } from "../session.js";
import { Empty, Listed } from "../shown.js";
import { View } from "../shell/view.js";

type Account = Schemas["AdminAccount"];
const PATH = "/accounts";
const PAGE = 25;
const STATES = ["suspended", "deleted"] as const;

const COLUMNS: readonly Column<Account>[] = [
  {
    head: "Account",
    kind: "main",
    cell: ({ id, name, external_id: external }) => (
      <>
        <a href={`#${PATH}/${id}`}>{name}</a>
        <small>{external ?? id}</small>
      </>
    ),
  },
  { head: "State", cell: (account) => <AccountState account={account} /> },
  { head: "Tier", cell: ({ tier }) => tier },
  { head: "Created", cell: ({ created_at: at }) => <Time at={at} /> },
];

export function AccountList({ query }: { readonly query: URLSearchParams }) {
  const state = STATES.find((one) => one === query.get("state"));
  const isSuspended = state === "suspended";
  const resource = useResource(
    (signal) =>
      read(
        admin.GET("/admin/v1/accounts", {
          signal,
          params: {
            query: {
              ...given(query, "search", "tier", "after"),
              limit: PAGE,
              ...(state === undefined ? {} : { [state]: true }),
            },
          },
        }),
      ),
    [query.toString()],
  );
  const where = { path: PATH, query };
  const pages = pagesOf(PATH, query, resource.data?.accounts, PAGE);
  return (
    <View
      title="Accounts"
      lead="Those who call the API, newest first."
      actions={<NewAccount onDone={resource.reload} />}
    >
      <Filters label="Accounts">
        <Search {...where} name="search" label="Find" hint="Name or id" />
        <Search {...where} name="tier" label="Tier" hint="Its name" />
        <Choice
          {...where}
          name="state"
          label="State"
          choices={[
            ["", "Not deleted"],
            ["suspended", "Suspended"],
            ["deleted", "Deleted"],
          ]}
        />
      </Filters>
      <Listed
        caption="Accounts"
        columns={COLUMNS}
        of={resource}
        rows={({ accounts }) => accounts}
        keyOf={({ id }) => id}
        empty={
          query.size > 0 ? (
            <Empty title="No account matches">
              <a href={`#${PATH}`}>Show all accounts</a>
            </Empty>
          ) : (
            <Empty title="No accounts yet">Create the first one, give it credits, and issue a key to it.</Empty>
          )
        }
      />
      {/* Those that are suspended come in one page, the last suspended first. */}
      <Pager first={pages.first} next={isSuspended ? null : pages.next} />
    </View>
  );
}

/** Suspended, without the terms, or neither. */
export function AccountState({ account }: { readonly account: Account }) {
  if (account.deleted_at !== null) return <Badge tone="bad">Deleted</Badge>;
  if (account.suspended_at !== null)
    return (
      <>
        <Badge tone="bad">Suspended</Badge>
        {account.suspended_reason === null ? null : <small>{account.suspended_reason}</small>}
      </>
    );
  return account.terms_accepted_at === null ? <Badge tone="warn">Terms open</Badge> : <Badge tone="good">Active</Badge>;
}

function NewAccount({ onDone }: { readonly onDone: () => void }) {
  const creditsField = { name: "credits", label: "Credits granted at once", type: "number", initial: "0" } as const;
  return (
    <Action
      label="New account…"
      look="primary"
      needs="operate"
      title="New account"
      submit="Create"
      fields={[
        { name: "name", label: "Name", hint: "A label for operators." },
        { name: "tier", label: "Tier", hint: "One that the settings name.", initial: "free" },
        ...(may("owner") ? [creditsField] : []),
        { name: "external_id", label: "External id", hint: "Whose it is in an app around Fermata.", isOptional: true },
        {
          name: "accept_terms",
          label: "The account has accepted the API terms",
          hint: "Without it every request of its keys gets 403.",
          type: "check",
          isOptional: true,
        },
      ]}
      run={async (
        { name = "", tier = "", credits = "0", external_id: external = "", accept_terms: accepted },
        headers,
      ) => {
        const body = {
          name,
          tier,
          ...(accepted === "true" ? { accept_terms: true } : {}),
          ...(Number(credits) > 0 ? { credits: Number(credits) } : {}),
          ...(external === "" ? {} : { external_id: external }),
        };
        const { id } = await read(admin.POST("/admin/v1/accounts", { body, headers }));
        navigate(`${PATH}/${id}`);
        return `${name} is created.`;
      }}
      onDone={onDone}
    />
  );
}
