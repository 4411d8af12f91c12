import { useResource } from "../../parts/resource.js";
import { type Column } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { Action } from "../action.js";
import { EXPIRY, expiryOf } from "../action-field.js";
import { admin, read, type Schemas } from "../api.js";
import { Empty, Listed, State } from "../shown.js";
import { Section } from "../shell/view.js";
import { counted } from "../words.js";

type Key = Schemas["AdminKey"];

const SCOPES = [
  "models:read",
  "credits:read",
  "generations:create",
  "generations:read",
  "library:read",
  "profile:read",
] as const;

/** The keys of an account, those that do not work any more included. */
export function Keys({ account, name }: { readonly account: string; readonly name: string }) {
  const params = { path: { id: account } };
  const resource = useResource(
    (signal) => read(admin.GET("/admin/v1/accounts/{id}/keys", { signal, params })),
    [account],
  );
  const columns: readonly Column<Key>[] = [
    {
      head: "Key",
      kind: "main",
      cell: ({ prefix, name: label, created_at: created }) => (
        <>
          <code>{prefix}…</code>
          {label === null ? null : <small>{label}</small>}
          <small>
            issued <Time at={created} />
          </small>
        </>
      ),
    },
    { head: "State", cell: ({ state }) => <State of={state} /> },
    { head: "Scopes", cell: ({ scopes }) => (scopes.length === SCOPES.length ? "all" : scopes.join(", ")) },
    { head: "Last used", cell: ({ last_used_at: at }) => (at === null ? "not yet" : <Time at={at} />) },
    { head: "Expires", cell: ({ expires_at: at }) => (at === null ? "never" : <Time at={at} />) },
    {
      head: "Actions",
      kind: "end",
      cell: (key) => (key.state === "active" ? <Revoke shown={key} onDone={resource.reload} /> : null),
    },
  ];
  const active = resource.data?.keys.filter(({ state }) => state === "active").length ?? 0;
  return (
    <Section
      title="Keys"
      actions={
        <>
          <NewKey account={account} name={name} onDone={resource.reload} />
          {active > 1 ? <RevokeAll account={account} name={name} count={active} onDone={resource.reload} /> : null}
        </>
      }
    >
      <Listed
        caption="Keys"
        columns={columns}
        of={resource}
        rows={({ keys }) => keys}
        keyOf={({ id }) => id}
        empty={<Empty title="No keys">Without one the account cannot call the API.</Empty>}
      />
    </Section>
  );
}

interface OfAccount {
  readonly account: string;
  readonly name: string;
  readonly onDone: () => void;
}

function NewKey({ account, name, onDone }: OfAccount) {
  return (
    <Action
      label="Issue a key…"
      look="primary"
      needs="operate"
      title={`Issue a key for ${name}`}
      submit="Issue"
      fields={[
        { name: "name", label: "Label", hint: "To recognise it by: laptop, CI.", isOptional: true },
        EXPIRY,
        { name: "scopes", label: "Scopes", type: "set", choices: SCOPES.map((scope) => [scope, scope] as const) },
      ]}
      run={async (values, headers) => {
        const scopes = values["scopes"]?.split(",") ?? [];
        const { name: label = "" } = values;
        const body = { ...(label === "" ? {} : { name: label }), scopes, ...expiryOf(values) };
        const params = { path: { id: account } };
        const { key } = await read(admin.POST("/admin/v1/accounts/{id}/keys", { params, body, headers }));
        return { says: "This is the key. It is shown this once: copy it now.", secret: key, what: "the key" };
      }}
      onDone={onDone}
    />
  );
}

function Revoke({ shown: { id, prefix }, onDone }: { readonly shown: Key; readonly onDone: () => void }) {
  return (
    <Action
      label="Revoke…"
      needs="operate"
      title={`Revoke the key ${prefix}…`}
      submit="Revoke"
      look="danger"
      run={async (_, headers) => {
        await read(admin.DELETE("/admin/v1/keys/{id}", { params: { path: { id } }, headers }));
        return "The key is revoked.";
      }}
      onDone={onDone}
    >
      <p>
        It stops working everywhere within a second, <strong>for good</strong>. Jobs that it started run on.
      </p>
    </Action>
  );
}

function RevokeAll({ account, name, count, onDone }: OfAccount & { readonly count: number }) {
  return (
    <Action
      label="Revoke all…"
      needs="operate"
      title={`Revoke all keys of ${name}`}
      submit={`Revoke ${counted(count, "key")}`}
      look="danger"
      run={async (_, headers) => {
        const params = { path: { id: account } };
        const { revoked } = await read(admin.DELETE("/admin/v1/accounts/{id}/keys", { params, headers }));
        return `${counted(revoked, "key")} revoked.`;
      }}
      onDone={onDone}
    >
      <p>
        All of its keys stop working everywhere within a second, <strong>for good</strong>: the account cannot call the
        API until you issue another. Jobs that they started run on.
      </p>
    </Action>
  );
}
