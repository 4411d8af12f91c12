import { type Mutant, storesNamed } from "./guard.js";
import { conditionMutants, refusalMutants, scopeMutants, uniqueIndexMutants } from "./shapes.js";

const unit = (folder: string): string => `test/unit/core/${folder}/*.test.ts`;
const api = (...names: readonly string[]): string[] => names.map((name) => `test/api/${name}.test.ts`);

const SQL = "adapters/storage/sql";

/** What nothing can get by because of another guard, which is named. It stays as a second line. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  [`condition fence = ? of jobs (${SQL}/jobs/claims.ts)`]: "the rows are locked by the read before",
  [`condition account_id = ? of balances (${SQL}/usage/fill-credit-sums.ts)`]: "without it more rows would be locked",
  [`condition account_id = ? of jobs (${SQL}/usage/fill-credit-sums.ts)`]: "without it the steps would be smaller",
  [`refusal !isId("acct", accountId) (core/credits/manage-credits.ts)`]: "no row has an id of another form",
  [`refusal !isId("trk", trackId) (core/generations/start-split.ts)`]: "no row has an id of another form",
};

/** Guards that are found in the code by their shape: a new one of these is removed like the others. */
export function generatedMutants(): Mutant[] {
  const found = [...conditions(), ...indexes(), ...scopes(), ...refusals()];
  return found.filter(({ name, file }) => UNREACHABLE[`${name} (${file})`] === undefined);
}

/** The walk through the ledger sorts what it reads by account: without its conditions it would only read more. */
function conditions(): Mutant[] {
  const ledger = ["test/adapters/ledger-archives.test.ts", "test/adapters/ledger-verification.test.ts"];
  return conditionMutants({
    [`${SQL}/accounts`]: storesNamed("AccountStore", "AuditLog"),
    [`${SQL}/jobs`]: storesNamed("JobStore", "IdempotencyStore", "CallbackStore"),
    [`${SQL}/library`]: storesNamed("LibraryStore", "UploadStore"),
    [`${SQL}/usage`]: {
      tests: ["test/adapters/request-log.test.ts", "test/adapters/credit-sums-migration.test.ts"],
      grep: "SQLite",
    },
    [`${SQL}/erasure`]: {
      tests: ["test/adapters/storage.test.ts", "test/adapters/account-erasure.test.ts"],
      grep: "Eras.*SQLite",
    },
    [`${SQL}/webhooks`]: storesNamed("WebhookStore"),
    [`${SQL}/ledger/ledger-store.ts`]: storesNamed("LedgerStore"),
    [`${SQL}/ledger/ledger-archiving.ts`]: { tests: ledger, grep: "SQLite" },
  });
}

function indexes(): Mutant[] {
  return uniqueIndexMutants({
    [`${SQL}/migrations`]: { tests: ["test/adapters/unique-rows.test.ts"], grep: "SQLite" },
  });
}

function scopes(): Mutant[] {
  return scopeMutants({
    "adapters/http/generated/routes.ts": { tests: api("scope-table") },
    "adapters/http/generated/admin/routes.ts": { tests: api("admin/admin-roles") },
  });
}

/** Of files that decide who may do what, and how much; those of files that check what is well-formed are left out. */
function refusals(): Mutant[] {
  const rotation = [unit("secrets"), "test/system/secrets/rotation.test.ts"];
  return refusalMutants({
    "core/accounts/authenticate.ts": { tests: [unit("accounts")] },
    "core/accounts/closed-account.ts": { tests: api("suspension") },
    "core/admin/admin-tokens.ts": { tests: api("admin/admin-tokens", "admin/admin-api") },
    "core/credits/reserve.ts": { tests: [unit("credits")] },
    "core/credits/grant.ts": { tests: [unit("credits")] },
    "core/credits/manage-credits.ts": {
      tests: [...api("refused-credits", "embedded-accounts"), "test/adapters/storage-races.test.ts"],
    },
    "core/idempotency": { tests: [unit("idempotency")] },
    "core/jobs/decide-acceptance.ts": { tests: [unit("jobs")] },
    "core/generations/accept-generation.ts": { tests: api("embedded-generations", "create-generation") },
    "core/generations/start-split.ts": { tests: api("refused-splits", "splits") },
    "core/library/upload-track.ts": { tests: [unit("library"), ...api("upload-quota", "upload-track")] },
    "core/library/read-library.ts": { tests: api("tracks", "playlists") },
    "core/library/delete-track.ts": { tests: api("gone-meanwhile", "delete-track") },
    "core/lists": { tests: [unit("lists")] },
    "core/webhooks/manage-endpoints.ts": { tests: api("gone-meanwhile", "webhook-endpoints", "webhook-urls") },
    "core/webhooks/url-rules.ts": { tests: [unit("webhooks")] },
    "core/rate-limits": { tests: [unit("rate-limits")] },
    "core/providers/receive-callback.ts": { tests: ["test/system/jobs/callbacks.test.ts"] },
    "core/secrets/key-state.ts": { tests: rotation },
    "adapters/http/middleware": {
      tests: api("errors", "malformed", "upload-track", "unfinished-bodies", "network-budget"),
    },
    "adapters/http/authentication.ts": { tests: api("rate-limits") },
    "adapters/http/rate-limits.ts": { tests: api("rate-limits") },
    "adapters/http/connections/body-budget.ts": { tests: ["test/unit/http/body-budget.test.ts"] },
    "adapters/http/sessions": { tests: api("sessions", "studio") },
    "adapters/http/pages/audio.ts": { tests: api("audio", "suspension") },
    "adapters/http/pages/mcp.ts": { tests: api("mcp-limits", "mcp") },
    "adapters/network": {
      tests: [
        "test/unit/network/*.test.ts",
        "test/adapters/address-guard-connector.test.ts",
        "test/adapters/address-guard-resolver.test.ts",
        "test/adapters/guarded-fetch.test.ts",
        "test/adapters/guarded-fetch-frozen.test.ts",
      ],
    },
    "adapters/crypto/secret-box.ts": { tests: ["test/adapters/secret-box.test.ts"] },
    "adapters/audio/analyser/sample-budget.ts": { tests: ["test/unit/audio/sample-budget.test.ts"] },
  });
}
