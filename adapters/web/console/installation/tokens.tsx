import { useResource } from "../../parts/resource.js";
import { type Column } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { Action } from "../action.js";
import { EXPIRY, expiryOf } from "../action-field.js";
import { admin, read, type Schemas } from "../api.js";
import { may, type Role } from "../session.js";
import { Empty, Listed, State } from "../shown.js";
import { View } from "../shell/view.js";

type Token = Schemas["AdminToken"];

/** The tokens of operators, which owners alone see. */
export function Tokens() {
  return may("owner") ? (
    <TokenList />
  ) : (
    <View title="Tokens">
      <div class="empty">
        <strong>For owners</strong>
        Tokens of operators are seen, issued and revoked with an owner’s token.
      </div>
    </View>
  );
}

function TokenList() {
  const resource = useResource((signal) => read(admin.GET("/admin/v1/tokens", { signal })), []);
  const columns: readonly Column<Token>[] = [
    {
      head: "Operator",
      kind: "main",
      cell: ({ name, prefix }) => (
        <>
          <strong>{name}</strong>
          <small>
            <code>{prefix}…</code>
          </small>
        </>
      ),
    },
    { head: "State", cell: ({ state }) => <State of={state} /> },
    { head: "Role", cell: ({ role }) => role },
    { head: "Issued", cell: ({ created_at: at }) => <Time at={at} /> },
    { head: "Expires", cell: ({ expires_at: at }) => (at === null ? "never" : <Time at={at} />) },
    {
      head: "Actions",
      kind: "end",
      cell: (token) => (token.state === "active" ? <Revoke token={token} onDone={resource.reload} /> : null),
    },
  ];
  return (
    <View
      title="Tokens"
      lead="Of operators, for this console and the admin API. That of the settings is not listed."
      actions={<NewToken onDone={resource.reload} />}
    >
      <Listed
        caption="Tokens"
        columns={columns}
        of={resource}
        rows={({ tokens }) => tokens}
        keyOf={({ id }) => id}
        empty={<Empty title="No tokens">Issue one to each operator, so that the audit log names who did what.</Empty>}
      />
    </View>
  );
}

function NewToken({ onDone }: { readonly onDone: () => void }) {
  return (
    <Action
      label="Issue a token…"
      look="primary"
      needs="owner"
      title="Issue a token"
      submit="Issue"
      fields={[
        { name: "name", label: "Operator", hint: "Who uses it; the audit log shows this name." },
        {
          name: "role",
          label: "Role",
          choices: [
            ["read", "read: may look at everything but secrets"],
            ["operate", "operate: may also change what runs"],
            ["owner", "owner: may also grant credits and issue tokens"],
          ],
          initial: "read",
        },
        EXPIRY,
      ]}
      run={async ({ name = "", role, ...values }, headers) => {
        const body = { name, role: role as Role, ...expiryOf(values) };
        const { token } = await read(admin.POST("/admin/v1/tokens", { body, headers }));
        return {
          says: `This is the token of ${name}. It is shown this once: copy it now.`,
          secret: token,
          what: "the token",
        };
      }}
      onDone={onDone}
    />
  );
}

function Revoke({ token: { id, name }, onDone }: { readonly token: Token; readonly onDone: () => void }) {
  return (
    <Action
      label="Revoke…"
      needs="owner"
      title={`Revoke the token of ${name}`}
      submit="Revoke"
      look="danger"
      run={async (_, headers) => {
        await read(admin.DELETE("/admin/v1/tokens/{id}", { params: { path: { id } }, headers }));
        return `The token of ${name} is revoked.`;
      }}
      onDone={onDone}
    >
      <p>
        It stops working everywhere within a second, <strong>for good</strong>; a session that began with it ends too.
      </p>
    </Action>
  );
}
