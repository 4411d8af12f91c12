import { writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { commandNames } from "../../../adapters/cli/program.js";
import type { CliHost } from "../../../adapters/cli/host.js";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { callerDouble } from "../../support/command-line.js";
import { tinyMp3 } from "../../support/provider-kit/sounds.js";
import { Sandbox } from "../../support/process.js";

interface Listed {
  readonly number: number;
  readonly actor: string;
  readonly action: string;
  readonly account: string | null;
  readonly targets: readonly string[];
  readonly fields: { readonly [name: string]: unknown };
  readonly hash: string;
}

/** Commands that change nothing of an account: they read, run servers, or bring the schema up to date. */
const UNRECORDED = [
  ...["start", "serve", "work", "migrate", "doctor", "accounts list", "accounts show", "keys list", "credits show"],
  ...["ledger verify", "jobs list", "jobs show", "library search", "library show", "audit list"],
  ...["playlists list", "playlists show"],
  ...[
    "audit verify",
    "admin-tokens list",
    "report margin",
    "storage report",
    "webhooks endpoints",
    "webhooks deliveries",
    "models list",
    "plugins list",
  ],
  // What a server does for a caller is in its own log of requests.
  ...["login", "generate", "wait", "split", "webhooks listen"],
  ...["plugins new", "plugins check", "adapters check", "config print", "config check", "secrets status", "mcp"],
];

/** The webhooks of this test go to a port of this machine on which no server listens. */
const ENV = { FERMATA_WEBHOOKS__ALLOW_NETWORKS: "127.0.0.0/8" };

type Needed =
  | "token"
  | "file"
  | "account"
  | "newClient"
  | "endpoint"
  | "key"
  | "track"
  | "uploaded"
  | "playlist"
  | "delivery";

describe("The audit log of the command line", function () {
  this.timeout(120_000);
  const sandbox = new Sandbox();
  let dataDir: string;
  /** What the commands below need to be there. */
  let ids: Record<Needed, string>;

  const json = <T = { id: string }>(...args: readonly string[]): Promise<T> => sandbox.json<T>(args, dataDir);
  const records = async (...options: readonly string[]): Promise<Listed[]> =>
    (await json<{ records: Listed[] }>("audit", "list", ...options)).records;

  /** Each command that changes something, as it is called, and what is recorded of it. */
  const CHANGES: readonly (readonly [command: string, args: () => readonly string[], action: string])[] = [
    ["accounts create", () => ["bob", "--tier", "free"], "accounts.create"],
    ["accounts accept-terms", () => [ids.newClient], "accounts.accept_terms"],
    ["accounts set-tier", () => [ids.newClient, "free"], "accounts.change_tier"],
    ["accounts suspend", () => [ids.account, "--reason", "leaked"], "accounts.suspend"],
    ["accounts resume", () => [ids.account], "accounts.resume"],
    ["accounts export", () => [ids.account, "--out", join(dataDir, "export.jsonl")], "accounts.export"],
    ["keys issue", () => [ids.account, "--name", "ci"], "keys.issue"],
    ["studio link", () => [ids.account], "studio.link"],
    ["credits grant", () => [ids.account, "100", "--pack", "--reference", "order 17"], "credits.grant"],
    ["credits renew", () => [ids.account, "--period", "2026-11"], "credits.renew"],
    ["ledger archive", () => ["--older-than", "0"], "ledger.archive"],
    ["ledger restore", () => [join(dataDir, "ledger-archives", "ledger-000001.jsonl")], "ledger.restore"],
    ["library import", () => [], "library.import"],
    ["library upload", () => [ids.file, "--account", ids.account, "--title", "Hummed"], "library.upload"],
    ["library delete", () => [ids.uploaded, "--yes"], "library.delete"],
    ["library share", () => [ids.track], "library.share"],
    ["library unshare", () => [ids.track], "library.unshare"],
    ["playlists create", () => ["Evenings", "--account", ids.account], "playlists.create"],
    ["playlists edit", () => [ids.playlist, "--title", "Mornings"], "playlists.edit"],
    ["playlists delete", () => [ids.playlist], "playlists.delete"],
    ["generations create", () => ["synth/instrumental", "rain", "--account", ids.account], "generations.create"],
    ["stems split", () => [ids.track, "--account", ids.account], "splits.start"],
    ["stems remove-vocals", () => [ids.track, "--account", ids.account], "splits.start"],
    ["jobs pause", () => [], "submissions.pause"],
    ["jobs resume", () => [], "submissions.resume"],
    ["webhooks ping", () => [ids.endpoint], "webhooks.ping"],
    ["webhooks resend", () => [ids.delivery], "webhooks.resend"],
    ["webhooks rotate-secret", () => [ids.endpoint], "webhooks.rotate_secret"],
    ["audio collect", () => [], "audio.collect"],
    ["keys revoke", () => [ids.key], "keys.revoke"],
    ["jobs cancel", () => [], "jobs.cancel"],
    // What is retried is a split, which is recorded as the start of one.
    ["jobs retry", () => [], "splits.start"],
    ["accounts delete", () => [ids.newClient, "--yes"], "accounts.delete"],
    ["admin-tokens issue", () => ["zoe", "--role", "read"], "admin_tokens.issue"],
    ["admin-tokens revoke", () => [ids.token], "admin_tokens.revoke"],
    ["secrets rotate", () => [], "secrets.rotate"],
    ["secrets retire", () => [], "secrets.retire"],
  ];

  before(async () => {
    dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const account = (await json("accounts", "create", "alice", "--tier", "pro", "--accept-terms", "--credits", "10"))
      .id;
    const newClient = (await json("accounts", "create", "carol", "--tier", "pro")).id;
    const endpoint = await openEndpoint(account);
    ids = {
      account,
      newClient,
      endpoint,
      key: "",
      track: "",
      playlist: "",
      delivery: "",
      file: "",
      token: "",
      uploaded: "",
    };
  });
  after(() => sandbox.clear());

  it("knows every command: it is recorded, or changes nothing", () => {
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    const nothing = (): Promise<never> => Promise.reject(new Error("nothing behind it"));
    const host: CliHost = {
      ...{ version: "0", invocation: "fermata", root: "/", stdout: silent, stderr: silent, confirm: null },
      ...{ caller: callerDouble() },
      ...{
        open: nothing,
        showSettings: nothing,
        checkSettings: nothing,
        catalogue: nothing,
        run: nothing,
        serveMcp: nothing,
        migrate: nothing,
        doctor: nothing,
      },
      ...{
        builtInPlugins: nothing,
        checkAdapter: nothing,
        importPackage: nothing,
        openLiveCheck: nothing,
        writePackage: nothing,
      },
    };
    const known = [...UNRECORDED, ...CHANGES.map(([command]) => command)];
    expect(commandNames(host).sort()).to.deep.equal(known.sort());
  });

  it("has a record of each command that changes something, with who did it and no secret", async () => {
    const folder = await sandbox.dataDir();
    ids.file = join(folder, "a.mp3");
    await writeFile(ids.file, tinyMp3());
    const file = join(folder, "library.json");
    const track = { ref: "a", visibility: "public", title: "Rain", artist_label: "Me", audio_file: "a.mp3" };
    await writeFile(file, JSON.stringify({ tracks: [track] }));
    const secrets: string[] = [];
    let last = (await records())[0]?.number ?? 0;
    const cancelled: string[] = [];
    for (const [command, args, action] of CHANGES) {
      const given = command === "library import" ? [file] : /^jobs (cancel|retry)$/.test(command) ? cancelled : args();
      const { code, stdout, stderr } = await sandbox.command([...command.split(" "), ...given, "--json"], dataDir, ENV);
      // No server listens there: failed deliveries are recorded as successful ones are.
      const mayFail = command === "webhooks ping" || command === "webhooks resend";
      expect(code, `${command}: ${stderr}`).to.be.within(0, mayFail ? 1 : 0);
      const [created] = await records("--limit", "1");
      expect([created?.action, created?.number], command).to.deep.equal([action, last + 1]);
      expect(created?.actor, command).to.match(new RegExp(`^${userInfo().username}`));
      last += 1;
      remember(command, JSON.parse(stdout) as { [name: string]: unknown }, secrets, cancelled);
    }
    const all = JSON.stringify(await records());
    expect(secrets).to.have.length.above(2);
    for (const secret of secrets) expect(all).to.not.include(secret);
    expect(await json("audit", "verify")).to.include({ ok: true, count: last, broken: null });
  });

  /** Ids and secrets that a command's document has. */
  function remember(
    command: string,
    document: { [name: string]: unknown },
    secrets: string[],
    cancelled: string[],
  ): void {
    const id = document["id"] as string;
    if (command === "keys issue") {
      ids.key = id;
      secrets.push(document["key"] as string);
    }
    if (command === "library import") ids.track = (document["tracks"] as { id: string }[])[0]?.id ?? "";
    if (command === "library upload") ids.uploaded = id;
    if (command === "library share") secrets.push((document["share_url"] as string).split("/").at(-1) as string);
    if (command === "playlists create") ids.playlist = id;
    if (command === "stems split") cancelled.push(id);
    if (command === "admin-tokens issue") {
      ids.token = id;
      secrets.push(document["token"] as string);
    }
    if (command === "webhooks ping") ids.delivery = id;
    if (command === "webhooks rotate-secret") secrets.push(document["signing_secret"] as string);
  }

  /** Registers a webhook endpoint as its account does, which is no operator's action. */
  async function openEndpoint(account: string): Promise<string> {
    const { key } = await json<{ key: string }>("keys", "issue", account);
    const server = sandbox.call(["serve"], dataDir, ENV);
    const api = new ApiClient(await server.listening(), key);
    const options = { headers: { "Content-Type": "application/json" }, body: { url: "https://127.0.0.1:1/hook" } };
    const { id } = dataOf<{ id: string }>(await api.send("POST", "/api/v1/webhook-endpoints", options));
    await server.stop();
    return id;
  }

  it("lists by account, action and time, and for people in a line each", async () => {
    const [suspension] = await records("--account", ids.account, "--action", "accounts.suspend");
    expect(suspension).to.deep.include({ account: ids.account, targets: [ids.account], fields: { reason: "leaked" } });
    expect(await records("--since", "2999-01-01")).to.deep.equal([]);
    const { stdout } = await sandbox.command(["audit", "list", "--action", "credits.grant"], dataDir);
    expect(stdout).to.match(
      /^\d+ +\S+Z +\S+.* +credits\.grant +acct_\w+ amount=100 bucket="pack" reference="order 17"\n$/,
    );
    expect((await sandbox.command(["audit", "list", "--since", "2999-01-01"], dataDir)).stdout).to.equal(
      "No records.\n",
    );
  });

  it("exits with 1 and names the first record that was changed, and a head that is not there any more", async () => {
    const { head, count } = await json<{ head: string; count: number }>("audit", "verify");
    const fine = await sandbox.command(["audit", "verify", "--head", head], dataDir);
    expect([fine.code, fine.stdout]).to.deep.equal([
      0,
      `${count} records follow each other without a break.\nhead  ${head}\n`,
    ]);
    const gone = await sandbox.command(["audit", "verify", "--head", "0".repeat(63) + "1"], dataDir);
    expect(gone.code).to.equal(1);
    expect(gone.stdout).to.include("the given head is not in the chain");
    const database = new BetterSqlite3(join(dataDir, "fermata.sqlite"));
    database.exec("UPDATE fermata_audit_log SET actor = 'eve' WHERE number = 2");
    database.close();
    const found = await sandbox.command(["audit", "verify"], dataDir);
    expect(found.code).to.equal(1);
    expect(found.stdout).to.include("Record 2 is wrong: its members do not give its hash: it was changed.");
    const document = await sandbox.command(["audit", "verify", "--json"], dataDir);
    expect(document.json<{ ok: boolean; broken: { number: number } }>()).to.deep.include({ ok: false });
  });
});
