import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { SCOPES } from "../../../core/ports/scopes.js";
import { tinyMp3 } from "../../support/provider-kit/sounds.js";
import { Sandbox } from "../../support/process.js";

interface Document {
  readonly [name: string]: unknown;
}

describe("fermata accounts and keys", () => {
  const sandbox = new Sandbox();
  let dataDir: string;
  before(async () => {
    dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
  });
  after(() => sandbox.clear());

  const json = <T = Document>(...args: readonly string[]): Promise<T> => sandbox.json<T>(args, dataDir);
  const anAccount = async (...options: readonly string[]): Promise<string> =>
    (await json<{ id: string }>("accounts", "create", "Nightingale Radio", "--tier", "pro", ...options)).id;

  it("creates an account as JSON with its id, terms not accepted unless said", async () => {
    const created = await json("accounts", "create", "alice", "--tier", "plus");
    expect(created).to.deep.equal({
      id: created.id,
      external_id: null,
      name: "alice",
      tier: "plus",
      email_verified: false,
      terms_accepted_at: null,
      suspended_at: null,
      suspended_reason: null,
      deleted_at: null,
      created_at: created.created_at,
    });
    expect(created.id).to.match(/^acct_[0-9a-z]{26}$/);
    expect(created.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("creates an account with terms accepted and monthly credits", async () => {
    const created = await json<{ id: string; terms_accepted_at: string }>(
      "accounts",
      "create",
      "bob",
      "--tier",
      "free",
      "--accept-terms",
      "--credits",
      "7",
    );
    expect(created.terms_accepted_at).to.match(/Z$/);
    expect(await json("credits", "show", created.id)).to.deep.equal({
      available: 7,
      monthly_credits: 7,
      pack_credits: 0,
      total_spent: 0,
    });
  });

  it("creates an account with an external id, which no second account gets", async () => {
    const id = await anAccount("--external-id", "user 17");
    expect(await json("accounts", "show", id)).to.include({ id, external_id: "user 17" });
    const { stdout } = await sandbox.command(["accounts", "show", id], dataDir);
    expect(stdout).to.match(/^external id +user 17$/m);
    const again = ["accounts", "create", "eve", "--tier", "pro", "--external-id", "user 17"];
    const { code, stderr } = await sandbox.command(again, dataDir);
    expect(code).to.not.equal(0);
    expect(stderr).to.include(`The account ${id} has the external id user 17.`);
  });

  it("creates an account with its first key, which is shown this once and recorded without its token", async () => {
    const created = await json<{ id: string; key: { id: string; key: string; scopes: string[]; expires_at: null } }>(
      ...["accounts", "create", "first", "--tier", "pro", "--accept-terms", "--key"],
    );
    expect(created.key)
      .to.include({ expires_at: null })
      .and.to.have.property("scopes")
      .that.has.members([...SCOPES]);
    expect(created.key.key).to.match(/^frm_/);
    const { keys } = await json<{ keys: { id: string; state: string }[] }>("keys", "list", created.id);
    expect(keys.map(({ id, state }) => [id, state])).to.deep.equal([[created.key.id, "active"]]);
    const { stdout } = await sandbox.command(["audit", "list", "--account", created.id, "--json"], dataDir);
    const { records } = JSON.parse(stdout) as { records: { action: string }[] };
    expect(records.map(({ action }) => action)).to.deep.equal(["keys.issue", "accounts.create"]);
    expect(stdout).to.not.include(created.key.key);
    const inWords = await sandbox.command(["accounts", "create", "second", "--tier", "pro", "--key"], dataDir);
    expect(inWords.stdout).to.match(
      /^id +acct_\w+\n[^]*\n\nkey +frm_\S+\n[^]*The key is not kept and cannot be shown again\.\n$/,
    );
    expect(await json("accounts", "create", "third", "--tier", "pro")).to.not.have.property("key");
  });

  it("deletes an account once it is confirmed, and shows how far that is", async () => {
    const id = await anAccount("--external-id", "user 18", "--key");
    const asked = await sandbox.command(["accounts", "delete", id], dataDir);
    expect([asked.code, asked.stderr]).to.deep.equal([
      2,
      "error: it needs --yes where there is no terminal to ask on\nAdd --help for what is allowed.\n",
    ]);
    const deleted = await json<{ requested_at: string }>("accounts", "delete", id, "--yes");
    expect(deleted).to.deep.include({ id, erased_at: null, erased: {} });
    const shown = await json("accounts", "show", id);
    expect(shown).to.deep.include({ name: "(deleted)", external_id: null, deleted_at: deleted.requested_at });
    expect(shown.deletion).to.deep.equal({ requested_at: deleted.requested_at, erased_at: null, erased: {} });
    const { stdout } = await sandbox.command(["accounts", "show", id], dataDir);
    expect(stdout)
      .to.match(/^state +deleted$/m)
      .and.to.match(/^erased +not all of it yet$/m);
    const { accounts } = await json<{ accounts: { id: string }[] }>("accounts", "list", "--deleted");
    expect(accounts.map((account) => account.id)).to.deep.equal([id]);
    const { stderr } = await sandbox.command(["keys", "issue", id], dataDir);
    expect(stderr).to.include(`The account ${id} is deleted.`);
  });

  it("exports an account to a new file, or to a folder with its audio files", async () => {
    const { id } = await json<{ id: string }>("accounts", "create", "Émile", "--tier", "pro", "--key");
    const sound = join(dataDir, "a.mp3");
    await writeFile(sound, tinyMp3());
    const { id: track } = await json<{ id: string }>("library", "upload", sound, "--account", id, "--title", "Hummed");
    const folder = join(dataDir, "exported");
    const exported = await json<{ records: number; files: number }>(
      ...["accounts", "export", "Émile", "--out", folder, "--audio"],
    );
    const lines = (await readFile(join(folder, "account.jsonl"), "utf8")).trimEnd().split("\n");
    const documents = lines.map((line) => JSON.parse(line) as Document & { type: string });
    expect(documents.map(({ type }) => type)).to.include.members(["export", "account", "key", "track", "audit_record"]);
    expect(documents.at(-1)).to.deep.equal({ type: "end", records: exported.records });
    expect(exported.records).to.equal(lines.length);
    const { files } = documents.find(({ type }) => type === "track") as unknown as { files: { path: string }[] };
    expect(exported.files).to.equal(files.length);
    const mix = files.find(({ path }) => path === `audio/${track}/mix.mp3`);
    expect(Buffer.compare(await readFile(join(folder, mix?.path ?? "")), tinyMp3())).to.equal(0);
    expect((await stat(join(folder, "account.jsonl"))).mode & 0o777).to.equal(0o600);
    const again = await sandbox.command(["accounts", "export", id, "--out", folder], dataDir);
    expect([again.code, again.stderr]).to.deep.equal([
      1,
      `There is a file ${join(folder, "account.jsonl")} already; name another place.\n`,
    ]);
    const wrong = await sandbox.command(["accounts", "export", id, "--out", "a.jsonl", "--audio"], dataDir);
    expect([wrong.code, wrong.stderr]).to.deep.equal([
      2,
      "error: --audio needs a folder as --out\nAdd --help for what is allowed.\n",
    ]);
  });

  it("takes an account's name wherever it takes its id, and lists the ids where several have the name", async () => {
    const id = (await json<{ id: string }>("accounts", "create", "Lone Lark", "--tier", "pro")).id;
    expect(await json("accounts", "show", "Lone Lark")).to.include({ id, name: "Lone Lark" });
    expect(await json("accounts", "accept-terms", "Lone Lark")).to.include({ id });
    await json("keys", "issue", "Lone Lark", "--name", "ci");
    expect(await json("credits", "grant", "Lone Lark", "5")).to.include({ available: 5 });
    expect(await json("credits", "show", "Lone Lark")).to.include({ available: 5 });
    expect((await json<{ keys: object[] }>("keys", "list", "Lone Lark")).keys).to.have.length(1);
    const { records } = await json<{ records: { account: string }[] }>("audit", "list", "--account", "Lone Lark");
    expect(records.map(({ account }) => account)).to.deep.equal([id, id, id, id]);
    expect(await json("accounts", "set-tier", "Lone Lark", "plus")).to.include({ id, tier: "plus" });
    expect(await json("jobs", "list", "--account", "Lone Lark")).to.deep.equal({ jobs: [] });
    expect(await json("webhooks", "endpoints", "Lone Lark")).to.deep.equal({ endpoints: [] });
    expect(await json("playlists", "list", "--account", "Lone Lark")).to.deep.equal({ playlists: [] });
    expect(await json("library", "search", "--account", "Lone Lark")).to.deep.equal({ tracks: [], playlists: [] });
    expect(await json("accounts", "suspend", "Lone Lark")).to.include({ id });
    expect(await json("accounts", "resume", "Lone Lark")).to.include({ id });
    expect(await json("keys", "revoke", "--account", "Lone Lark")).to.deep.equal({ account: id, revoked: 1 });

    const other = (await json<{ id: string }>("accounts", "create", "Lone Lark", "--tier", "pro")).id;
    expect(await sandbox.command(["credits", "grant", "Lone Lark", "5"], dataDir)).to.include({
      code: 1,
      stdout: "",
      stderr: `Several accounts are named Lone Lark: ${other}, ${id}. Name one by its id.\n`,
    });
    expect(await sandbox.command(["accounts", "show", "lone lark"], dataDir)).to.include({
      code: 1,
      stderr: "There is no account lone lark.\n",
    });
  });

  it("says in words what an account is", async () => {
    const { code, stdout, stderr } = await sandbox.command(["accounts", "create", "carol", "--tier", "free"], dataDir);
    expect([code, stderr]).to.deep.equal([0, ""]);
    expect(stdout).to.match(
      /^id +acct_\w+\nname +carol\ntier +free\nterms +not accepted: every request answers 403\nstate +active\ncreated +\S+Z\n$/,
    );
  });

  it("accepts the terms, keeps the first moment when they are accepted again, and shows the account", async () => {
    const id = await anAccount();
    const accepted = await json("accounts", "accept-terms", id);
    expect(accepted).to.include({ id, tier: "pro" });
    expect(accepted.terms_accepted_at).to.be.a("string");
    expect(await json("accounts", "accept-terms", id)).to.deep.equal(accepted);
    expect(await json("accounts", "show", id)).to.deep.equal(accepted);
  });

  it("issues a key with every scope by default", async () => {
    const issued = await json("keys", "issue", await anAccount());
    expect(Object.keys(issued)).to.deep.equal(["id", "key", "scopes", "expires_at"]);
    expect(issued.id).to.match(/^key_/);
    expect(issued.key).to.match(/^frm_\w+$/);
    expect(issued.scopes).to.have.members([...SCOPES]);
  });

  it("issues a key with named scopes, lists it without its secret, and revokes it", async () => {
    const account = await anAccount();
    const { id, key } = await json<{ id: string; key: string }>(
      "keys",
      "issue",
      account,
      "--scopes",
      "models:read, credits:read",
      "--name",
      "ci",
    );
    const [listed] = (await json<{ keys: Document[] }>("keys", "list", account)).keys;
    expect(listed).to.deep.equal({
      id,
      name: "ci",
      prefix: listed?.prefix,
      scopes: ["models:read", "credits:read"],
      state: "active",
      created_at: listed?.created_at,
      revoked_at: null,
      expires_at: null,
      last_used_at: null,
    });
    expect(key.startsWith(listed?.prefix as string)).to.equal(true);
    expect(await json("keys", "revoke", id)).to.deep.equal({ id, revoked: true });
    expect((await json<{ keys: Document[] }>("keys", "list", account)).keys[0]?.revoked_at).to.match(/Z$/);
    const human = await sandbox.command(["keys", "list", account], dataDir);
    expect(human.stdout).to.match(new RegExp(`^${id} +frm_\\w+… +revoked +never used +ci\\n$`));
    expect(human.stdout).to.not.include(key);
  });

  it("suspends an account with a reason, keeps the first moment, lists it, and resumes it", async () => {
    const id = await anAccount("--accept-terms");
    const before = await json("accounts", "show", id);
    const suspended = await json("accounts", "suspend", id, "--reason", "key in a public repository");
    expect(suspended).to.deep.equal({
      ...before,
      suspended_at: suspended["suspended_at"],
      suspended_reason: "key in a public repository",
    });
    expect(suspended["suspended_at"]).to.match(/Z$/);
    expect(await json("accounts", "suspend", id)).to.deep.equal(suspended);
    const listSuspended = async (): Promise<Document[]> =>
      (await json<{ accounts: Document[] }>("accounts", "list", "--suspended")).accounts;
    expect(await listSuspended()).to.deep.equal([suspended]);
    const shown = await sandbox.command(["accounts", "show", id], dataDir);
    expect(shown.stdout).to.match(/^state +suspended\nsuspended +\S+Z\nreason +key in a public repository$/m);
    const listed = await sandbox.command(["accounts", "list"], dataDir);
    expect(listed.stdout).to.match(new RegExp(`^${id} +pro +suspended +Nightingale Radio$`, "m"));
    expect(await json("accounts", "resume", id)).to.deep.equal(before);
    expect(await json("accounts", "resume", id)).to.deep.equal(before);
    expect(await listSuspended()).to.deep.equal([]);
  });

  it("issues a key that expires, after a span or at a moment, and shows it", async () => {
    const account = await anAccount();
    const begunAt = Date.now();
    const span = await json<{ id: string; expires_at: string }>("keys", "create", account, "--expires", "90d");
    expect(Date.parse(span.expires_at) - begunAt).to.be.within(90 * 86_400_000 - 5_000, 90 * 86_400_000 + 60_000);
    const moment = await json("keys", "issue", account, "--expires", "2999-01-01");
    expect(moment["expires_at"]).to.equal("2999-01-01T00:00:00.000Z");
    const listed = (await json<{ keys: Document[] }>("keys", "list", account)).keys;
    expect(listed.map((key) => [key["state"], key["expires_at"]])).to.deep.equal([
      ["active", "2999-01-01T00:00:00.000Z"],
      ["active", span.expires_at],
    ]);
    const human = await sandbox.command(["keys", "list", account], dataDir);
    expect(human.stdout).to.include("active until 2999-01-01T00:00:00.000Z");
  });

  it("revokes all keys of an account, and all of all with --yes", async () => {
    const [account, other] = [await anAccount(), await anAccount()];
    for (const owner of [account, account, other]) await json("keys", "issue", owner);
    const states = async (owner: string): Promise<unknown[]> =>
      (await json<{ keys: Document[] }>("keys", "list", owner)).keys.map((key) => key["state"]);
    expect(await json("keys", "revoke", "--account", account)).to.deep.equal({ account, revoked: 2 });
    expect([await states(account), await states(other)]).to.deep.equal([["revoked", "revoked"], ["active"]]);
    const all = await json("keys", "revoke", "--all", "--yes");
    expect(all["revoked"]).to.be.at.least(1);
    expect(await states(other)).to.deep.equal(["revoked"]);
  });

  it("shows a key to people once, and says so", async () => {
    const { stdout } = await sandbox.command(["keys", "issue", await anAccount()], dataDir);
    expect(stdout).to.match(
      /^key +frm_\w+\nid +key_\w+\nscopes +\S.*\nThe key is not kept and cannot be shown again\.\n$/,
    );
  });

  it("says that an account has no keys", async () => {
    const account = await anAccount();
    expect((await sandbox.command(["keys", "list", account], dataDir)).stdout).to.equal("No keys.\n");
    expect(await json("keys", "list", account)).to.deep.equal({ keys: [] });
  });

  const refusals: readonly (readonly [string, readonly string[], string])[] = [
    [
      "a tier that is not in config",
      ["accounts", "create", "dave", "--tier", "gold"],
      "There is no tier gold; the tiers are free, plus, pro.",
    ],
    ["an empty name", ["accounts", "create", "", "--tier", "pro"], "An account's name has 1 to 100 characters; got 0."],
    ["an unknown account", ["accounts", "show", "acct_unknown"], "There is no account acct_unknown."],
    ["terms of an unknown account", ["accounts", "accept-terms", "acct_unknown"], "There is no account acct_unknown."],
    ["a key for an unknown account", ["keys", "issue", "acct_unknown"], "There is no account acct_unknown."],
    [
      "a suspension of an unknown account",
      ["accounts", "suspend", "acct_unknown"],
      "There is no account acct_unknown.",
    ],
    ["a revocation for an unknown account", ["keys", "revoke", "--account", "acct_x"], "There is no account acct_x."],
    ["an unknown key", ["keys", "revoke", "key_unknown"], "There is no key key_unknown."],
  ];
  for (const [what, args, message] of refusals) {
    it(`refuses ${what} with exit code 1, on stderr alone`, async () => {
      const error = JSON.stringify({ error: { code: "invalid_request", message } });
      for (const [options, written] of [
        [[], message],
        [["--json"], error],
      ] as const) {
        const { code, stdout, stderr } = await sandbox.command([...args, ...options], dataDir);
        expect([code, stdout, stderr]).to.deep.equal([1, "", `${written}\n`]);
      }
    });
  }

  it("refuses an expiry in the past, of a key and of a token, and names what is allowed", async () => {
    const account = await anAccount();
    const allowed =
      "a span such as 90d, 12h or 30m, of at least 1m, or a time to come such as \\d{4}-\\d\\d-\\d\\dT\\S+Z";
    for (const [given, code, says] of [
      ["2001-01-01", 1, `^--expires 2001-01-01 is not in the future\\. Allowed: ${allowed}\\.\n$`],
      ["0d", 2, `^error: option '--expires <when>' argument '0d' is invalid\\. Allowed: ${allowed}\\.\n`],
      ["soon", 2, `^error: option '--expires <when>' argument 'soon' is invalid\\. Allowed: ${allowed}\\.\n`],
    ] as const) {
      for (const args of [
        ["keys", "issue", account],
        ["admin-tokens", "issue", "zoe", "--role", "read"],
      ]) {
        const refused = await sandbox.command([...args, "--expires", given], dataDir);
        expect([refused.code, refused.stdout], given).to.deep.equal([code, ""]);
        expect(refused.stderr).to.match(new RegExp(says));
      }
    }
    expect(await json("keys", "list", account)).to.deep.equal({ keys: [] });
  });

  it("refuses a scope that does not exist, naming those that do", async () => {
    const { code, stderr } = await sandbox.command(
      ["keys", "issue", await anAccount(), "--scopes", "world:rule"],
      dataDir,
    );
    expect(code).to.equal(1);
    expect(stderr).to.include("got world:rule").and.to.include("generations:create");
  });

  it("lists accounts by a part of their name and by tier, and gives one another tier", async () => {
    const { id } = await json<{ id: string }>("accounts", "create", "Quasar Nights", "--tier", "free");
    const found = async (...options: string[]): Promise<string[]> =>
      (await json<{ accounts: { id: string }[] }>("accounts", "list", ...options)).accounts.map((one) => one.id);
    expect(await found("--search", "quasar", "--tier", "free")).to.deep.equal([id]);
    expect(await json("accounts", "set-tier", id, "pro")).to.include({ id, tier: "pro" });
    expect(await found("--search", "quasar", "--tier", "free")).to.deep.equal([]);
    const { code, stderr } = await sandbox.command(["accounts", "set-tier", id, "gold"], dataDir);
    expect([code, stderr]).to.deep.equal([1, "There is no tier gold; the tiers are free, plus, pro.\n"]);
  });

  it("issues, lists and revokes tokens for the admin API", async () => {
    const { token, ...shown } = await json<{ id: string; token: string }>(
      "admin-tokens",
      "issue",
      "zoe",
      "--role",
      "read",
    );
    expect(token).to.match(/^fra_[0-9A-Za-z]{46}$/);
    const listed = async (): Promise<string> => (await sandbox.command(["admin-tokens", "list"], dataDir)).stdout;
    expect(await listed()).to.equal(`${shown.id}  read  active  zoe\n`);
    await json("admin-tokens", "revoke", shown.id);
    expect(await listed()).to.equal(`${shown.id}  read  revoked  zoe\n`);
    const wrong = await sandbox.command(["admin-tokens", "issue", "zoe", "--role", "king"], dataDir);
    expect([wrong.code, wrong.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 2 && /read, operate, owner/.test(text),
    );
  });
});
