import { Action } from "../action.js";
import { Removal } from "./account-removal.js";
import { admin, read, type Schemas } from "../api.js";

interface AccountActionsProps {
  readonly account: Schemas["AdminAccountReport"];
  readonly onDone: () => void;
}

/** What can be done with an account as a whole. */
export function AccountActions({ account, onDone }: AccountActionsProps) {
  const { id, name, tier } = account;
  const params = { path: { id } };
  if (account.deleted_at !== null) return <Removal account={account} onDone={onDone} />;
  return (
    <>
      {account.terms_accepted_at === null ? (
        <Action
          label="Accept terms…"
          needs="operate"
          title={`Note that ${name} accepted the terms`}
          submit="Note it"
          run={async (_, headers) => {
            await read(admin.PATCH("/admin/v1/accounts/{id}", { params, headers, body: { accept_terms: true } }));
            return "The terms count as accepted.";
          }}
          onDone={onDone}
        >
          <p>Its keys work from now on. This cannot be taken back.</p>
        </Action>
      ) : null}
      <Action
        label="Change tier…"
        needs="operate"
        title={`Change the tier of ${name}`}
        submit="Change"
        fields={[{ name: "tier", label: "Tier", hint: "One that the settings name.", initial: tier }]}
        run={async ({ tier: next = "" }, headers) => {
          await read(admin.PATCH("/admin/v1/accounts/{id}", { params, headers, body: { tier: next } }));
          return `${name} has the tier ${next}.`;
        }}
        onDone={onDone}
      >
        <p>
          Its rate limits and its number of jobs at once change within a second. Credits stay as they are; the next
          renewal gives the allowance of the new tier.
        </p>
      </Action>
      <StudioLink account={account} onDone={onDone} />
      <Suspension account={account} onDone={onDone} />
      <Removal account={account} onDone={onDone} />
    </>
  );
}

function StudioLink({ account: { id, name }, onDone }: AccountActionsProps) {
  return (
    <Action
      label="Studio link…"
      needs="operate"
      title={`Make a link to the studio for ${name}`}
      submit="Make it"
      run={async (_, headers) => {
        const params = { path: { id } };
        const { url } = await read(admin.POST("/admin/v1/accounts/{id}/studio-link", { params, headers }));
        return {
          says: "This link works for 12 hours. It is shown this once: copy it now.",
          secret: url,
          what: "the link",
        };
      }}
      onDone={onDone}
    >
      <p>
        It opens the studio as {name} without a key, for everyone who has it, and spends the credits of {name}. The
        audit log has that you made it.
      </p>
    </Action>
  );
}

function Suspension({ account: { id, name, suspended_at: suspended }, onDone }: AccountActionsProps) {
  const params = { path: { id } };
  if (suspended !== null)
    return (
      <Action
        label="Resume…"
        needs="operate"
        title={`Resume ${name}`}
        submit="Resume"
        run={async (_, headers) => {
          await read(admin.POST("/admin/v1/accounts/{id}/resume", { params, headers }));
          return `${name} may call the API again.`;
        }}
        onDone={onDone}
      >
        <p>Its keys, share pages and audio links work again within a second.</p>
      </Action>
    );
  return (
    <Action
      label="Suspend…"
      needs="operate"
      title={`Suspend ${name}`}
      submit="Suspend"
      look="danger"
      fields={[
        {
          name: "note",
          label: "Note",
          hint: "Shown to operators with the account; the account does not see it.",
          isOptional: true,
        },
      ]}
      run={async ({ note = "" }, headers) => {
        const body = note === "" ? {} : { reason: note };
        await read(admin.POST("/admin/v1/accounts/{id}/suspend", { params, headers, body }));
        return `${name} is suspended.`;
      }}
      onDone={onDone}
    >
      <p>
        Within a second its keys get 403, and its share pages and audio links 404. <strong>Accepted jobs run on</strong>
        and are charged; credits, tracks and keys stay as they are.
      </p>
    </Action>
  );
}
