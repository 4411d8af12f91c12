import { useResource } from "../../parts/resource.js";
import { Facts, Table } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { Action } from "../action.js";
import { admin, read, type Schemas } from "../api.js";
import { Loaded } from "../shown.js";
import { Section, View } from "../shell/view.js";
import { counted } from "../words.js";
import { AudioCollection } from "./audio-collection.js";
import { AuditCheck } from "./audit-check.js";
import { LedgerCheck } from "./ledger-check.js";

/** What is done now and then: secret keys, the check of the ledger, files that were left behind, and after a leak. */
export function Maintenance() {
  return (
    <View title="Maintenance" lead="What runs by itself can be done here at once, and what an emergency asks for.">
      <SecretKeys />
      <LedgerCheck />
      <AuditCheck />
      <AudioCollection />
      <AllKeys />
    </View>
  );
}

const ROLE_WORDS: Readonly<Record<Schemas["AdminSecretKey"]["role"], string>> = {
  current: "Signs and seals",
  previous: "Accepted until it is retired",
  accepted: "Accepted: signatures of earlier versions",
  "not in force": "Not in force, and needed",
};

function SecretKeys() {
  const resource = useResource((signal) => read(admin.GET("/admin/v1/secrets", { signal })), []);
  const { data, reload } = resource;
  const hasOld = data?.keys.some(({ role }) => role === "previous" || role === "accepted") ?? false;
  return (
    <Section
      title="Secret keys"
      lead="They sign links and seal stored secrets. None is ever shown: keys are known by their ids."
      actions={
        <>
          {data?.origin === "file" && !hasOld ? <Rotate onDone={reload} /> : null}
          {hasOld ? <Retire onDone={reload} /> : null}
        </>
      }
    >
      <Loaded of={resource}>
        {({ keys, rotated_at: rotated, place, origin }) => (
          <>
            <Table
              caption="Secret keys"
              columns={[
                { head: "Key", kind: "main", cell: ({ id }) => <code>{id}</code> },
                { head: "Role", cell: ({ role }) => ROLE_WORDS[role] },
                { head: "Sealed rows", kind: "number", cell: ({ sealed_rows: rows }) => rows.toLocaleString("en") },
              ]}
              rows={keys}
              keyOf={({ id }) => id}
              empty="No keys."
            />
            <div class="card">
              <Facts
                of={[
                  ["Last rotated", rotated === null ? "never" : <Time at={rotated} />],
                  ["Kept in", <code>{place}</code>],
                  ["To rotate", origin === "file" ? null : "in the settings: secrets.key and secrets.previousKey"],
                ]}
              />
            </div>
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Rotate({ onDone }: { readonly onDone: () => void }) {
  return (
    <Action
      label="Rotate…"
      needs="owner"
      title="Rotate the secret key"
      submit="Rotate"
      run={async (_, headers) => {
        const { current } = await read(admin.POST("/admin/v1/secrets/rotate", { headers }));
        return `The key ${current} signs and seals from now on.`;
      }}
      onDone={onDone}
    >
      <p>
        A new key signs and seals from now on; the old one is accepted until you retire it. Processes on this machine
        use it within seconds. <strong>Copy the file of keys to every other machine</strong> that shares the storage.
      </p>
    </Action>
  );
}

function Retire({ onDone }: { readonly onDone: () => void }) {
  return (
    <Action
      label="Retire the old key…"
      needs="owner"
      title="Retire the old secret key"
      submit="Retire"
      look="danger"
      fields={[
        {
          name: "force",
          label: "Also when stored secrets still need it",
          hint: "They are lost: each endpoint named afterwards needs a new secret.",
          type: "check",
          isOptional: true,
        },
      ]}
      run={async ({ force }, headers) => {
        const body = { force: force === "true" };
        const { current, lost } = await read(admin.POST("/admin/v1/secrets/retire", { headers, body }));
        if (lost.length === 0) return `${current} is the only key in force.`;
        return { says: `${current} is the only key in force. Lost: the secrets of ${lost.join(", ")}.`, isBad: true };
      }}
      onDone={onDone}
    >
      <p>
        What is stored is sealed with the current key first. Links that the old key signed <strong>end at once</strong>,
        and so do sessions.
      </p>
    </Action>
  );
}

function AllKeys() {
  return (
    <Section
      title="After a leak"
      lead="Where it is not known which API keys are in wrong hands, all of them can be revoked."
      actions={
        <Action
          label="Revoke all API keys…"
          needs="owner"
          title="Revoke all keys of all accounts"
          submit="Revoke all"
          look="danger"
          typed="revoke all"
          run={async (_, headers) => {
            const { revoked } = await read(admin.POST("/admin/v1/keys/revoke-all", { headers }));
            return `${counted(revoked, "key")} revoked.`;
          }}
          onDone={() => undefined}
        >
          <p>
            Every key of every account stops working within a second, <strong>for good</strong>: no caller can do
            anything until it has a new one. Jobs that were accepted run on.
          </p>
        </Action>
      }
    />
  );
}
