import { Writable } from "node:stream";
import { expect } from "chai";
import type { CliHost, OperatorApp, Presenters } from "../../../adapters/cli/host.js";
import { runCli } from "../../../adapters/cli/program.js";
import { callerDouble } from "../../support/command-line.js";
import { InsufficientCreditsError, OperationRefusedError, ServiceUnavailableError } from "../../../core/errors.js";

/** Every command that the contract names and this version has. */
const COMMANDS = [
  "start",
  "serve",
  "work",
  "migrate",
  "doctor",
  "config print",
  "config check",
  "accounts create",
  "accounts accept-terms",
  "accounts show",
  "accounts set-tier",
  "accounts list",
  "accounts suspend",
  "accounts resume",
  "accounts export",
  "accounts delete",
  "keys issue",
  "keys list",
  "keys revoke",
  "credits grant",
  "credits renew",
  "credits show",
  "ledger verify",
  "ledger archive",
  "ledger restore",
  "generations create",
  "jobs list",
  "jobs show",
  "jobs cancel",
  "jobs retry",
  "jobs pause",
  "jobs resume",
  "library delete",
  "library import",
  "library share",
  "library unshare",
  "library search",
  "library show",
  "library upload",
  "playlists create",
  "playlists list",
  "playlists show",
  "playlists edit",
  "playlists delete",
  "stems split",
  "stems remove-vocals",
  "audio collect",
  "storage report",
  "studio link",
  "mcp",
  "audit list",
  "audit verify",
  "admin-tokens issue",
  "admin-tokens list",
  "admin-tokens revoke",
  "report margin",
  "webhooks endpoints",
  "webhooks deliveries",
  "webhooks resend",
  "webhooks ping",
  "webhooks rotate-secret",
  "webhooks listen",
  "secrets rotate",
  "secrets status",
  "secrets retire",
  "models list",
  "plugins list",
  "plugins new",
  "plugins check",
  "adapters check",
  "login",
  "generate",
  "wait",
  "split",
] as const;

class UsageIssue extends Error {}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe("The command line", () => {
  /** Runs with a host that has nothing behind it but what a test gives. */
  async function run(args: readonly string[], given: Partial<CliHost> = {}): Promise<Ended> {
    const written = { stdout: "", stderr: "" };
    const collector = (stream: keyof typeof written): Writable =>
      new Writable({ write: (chunk: Buffer, _encoding, done) => ((written[stream] += chunk.toString()), done()) });
    const nothing = (): Promise<never> => Promise.reject(new Error("nothing behind it"));
    const host: CliHost = {
      version: "1.2.3",
      invocation: "fermata",
      root: "/opt/fermata",
      stdout: collector("stdout"),
      stderr: collector("stderr"),
      confirm: null,
      caller: callerDouble(),
      open: nothing,
      showSettings: nothing,
      checkSettings: nothing,
      catalogue: nothing,
      run: nothing,
      serveMcp: nothing,
      migrate: nothing,
      doctor: nothing,
      builtInPlugins: nothing,
      checkAdapter: nothing,
      importPackage: nothing,
      openLiveCheck: nothing,
      writePackage: nothing,
      ...given,
    };
    const code = await runCli(args, host, (error) => (error instanceof UsageIssue ? [error.message] : null));
    return { code, ...written };
  }

  for (const command of COMMANDS) {
    it(`explains ${command} with an example and --json, on stdout`, async () => {
      const { code, stdout, stderr } = await run([...command.split(" "), "--help"]);
      expect([code, stderr]).to.deep.equal([0, ""]);
      expect(stdout).to.match(new RegExp(`^Usage: fermata ${command}(\\|[a-z]+)? \\[options\\]`));
      expect(stdout).to.include("--json").and.to.include(`Examples:\n  $ fermata ${command}`);
    });
  }

  it("names its commands in help, errors and hints as they are called here, and leaves other text alone", async () => {
    const invocation = "npx fermata";
    expect((await run(["accounts", "list", "--help"], { invocation })).stdout).to.include(
      "\n  $ npx fermata accounts list\n",
    );
    const open = (): Promise<never> => Promise.reject(new OperationRefusedError("Run `fermata migrate` first."));
    expect((await run(["accounts", "list"], { invocation, open })).stderr).to.equal(
      "Run `npx fermata migrate` first.\n",
    );
    const fix = "Run `fermata migrate`, or `sudo -u '#1001' fermata doctor`; `mysql fermata db` is fermata too.";
    const doctor = (): ReturnType<CliHost["doctor"]> =>
      Promise.resolve([{ name: "schema", result: "failed", message: "Old.", fix }]);
    const { stdout } = await run(["doctor", "--json"], { invocation, doctor });
    expect((JSON.parse(stdout) as { checks: { fix: string }[] }).checks[0]?.fix).to.equal(
      "Run `npx fermata migrate`, or `sudo -u '#1001' npx fermata doctor`; `mysql fermata db` is fermata too.",
    );
  });

  it("names every group and command in its help, and nothing else", async () => {
    const { code, stdout } = await run(["--help"]);
    expect(code).to.equal(0);
    const words = [...stdout.matchAll(/^ {2}([a-z-]+) /gm)].map(([, word]) => word);
    expect(words).to.have.members([...new Set([...COMMANDS.map((command) => command.split(" ")[0]), "help"])]);
  });

  it("prints its version", async () => {
    expect(await run(["--version"])).to.deep.equal({ code: 0, stdout: "1.2.3\n", stderr: "" });
  });

  const issues: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["no command", [], /^Usage: fermata/],
    ["a group alone", ["credits"], /^Usage: fermata credits/],
    ["an unknown command", ["dance"], /^error: unknown command 'dance'/],
    ["an unknown command of a group", ["jobs", "dance"], /^error: unknown command 'dance'/],
    ["an unknown option", ["jobs", "list", "--colour"], /^error: unknown option '--colour'/],
    ["a missing argument", ["keys", "issue"], /^error: missing required argument 'account'/],
    ["an argument too many", ["accounts", "show", "a", "b"], /^error: too many arguments/],
    ["a missing option", ["accounts", "create", "alice"], /^error: required option '--tier <tier>' not specified/],
    ["a revocation of nothing", ["keys", "revoke"], /^error: name one of: a key, --account, --all/],
    ["a revocation of two things", ["keys", "revoke", "--account", "acct_1", "--all"], /^error: name one of: a key/],
    ["a revocation of all without a terminal", ["keys", "revoke", "--all"], /^error: --all needs --yes/],
    ["an expiry that is none", ["keys", "issue", "acct_1", "--expires", "soon"], /Allowed: a span such as 90d/],
    ["an action that does not exist", ["audit", "list", "--action", "dance"], /Allowed choices are accounts\.create, /],
    ["a limit out of bounds", ["jobs", "list", "--limit", "1001"], /Allowed: 1 to 1000\./],
    ["a limit that is no number", ["jobs", "list", "--limit", "1e2"], /Allowed: a whole number\./],
    [
      "a status that does not exist",
      ["jobs", "list", "--status", "lost"],
      /Allowed choices are queued, processing, completed, failed\./,
    ],
    [
      "an amount that is no number",
      ["credits", "grant", "acct_1", "1.5"],
      /'1\.5' is invalid for argument 'amount'\. Allowed: a whole number\./,
    ],
    [
      "a search without an account and without a server",
      ["library", "search", "rain"],
      /^error: no server is named: set FERMATA_URL and FERMATA_API_KEY, or run `fermata login`; or name an --account/,
    ],
    [
      "a search limit out of bounds",
      ["library", "search", "--account", "acct_1", "--limit", "26"],
      /Allowed: 1 to 25\./,
    ],
    [
      "a private playlist without an owner",
      ["playlists", "create", "x"],
      /^error: name an --account, or make it --public/,
    ],
    ["an edit of nothing", ["playlists", "edit", "pls_1", "--json"], /name what is to change/],
    [
      "a playlist public and private",
      ["playlists", "edit", "pls_1", "--public", "--private"],
      /'--public' cannot be used with option '--private'/,
    ],
    [
      "all tracks and tracks more",
      ["playlists", "edit", "pls_1", "--tracks", "trk_1", "--add", "trk_2"],
      /'--tracks <ids>' cannot be used with/,
    ],
    ["a resend of nothing", ["webhooks", "resend"], /^error: name a delivery, or --endpoint with --since/],
    [
      "a resend of one and of a range",
      ["webhooks", "resend", "dlv_1", "--endpoint", "whe_1"],
      /^error: name a delivery, or --endpoint with --since/,
    ],
    [
      "a resend of a range without its start",
      ["webhooks", "resend", "--endpoint", "whe_1"],
      /^error: --endpoint needs --since/,
    ],
    [
      "a time that is none",
      ["webhooks", "resend", "--endpoint", "whe_1", "--since", "noon"],
      /Allowed: a time such as/,
    ],
    [
      "an overlap out of bounds",
      ["webhooks", "rotate-secret", "whe_1", "--overlap-hours", "200"],
      /Allowed: 0 to 168\./,
    ],
    [
      "a negative amount",
      ["credits", "grant", "acct_1", "-5"],
      /'-5' is invalid for argument 'amount'\. Allowed: a whole number\./,
    ],
  ];
  for (const [what, args, message] of issues) {
    it(`exits with 2 and a word on stderr after ${what}`, async () => {
      const { code, stdout, stderr } = await run(args);
      expect([code, stdout]).to.deep.equal([2, ""]);
      expect(stderr).to.match(message);
    });
  }

  for (const isWanted of [true, false]) {
    it(`revokes all keys after a ${isWanted ? "yes" : "no: nothing"}`, async () => {
      const asked: string[] = [];
      const revoked: unknown[] = [];
      const revokeKeys = async (which: unknown): Promise<number> => revoked.push(which);
      const app = { accounts: { revokeKeys }, close: () => Promise.resolve() } as unknown as OperatorApp;
      const { code, stderr } = await run(["keys", "revoke", "--all"], {
        confirm: async (question) => asked.push(question) > 0 && isWanted,
        open: () => Promise.resolve({ app, present: {} as Presenters }),
      });
      expect(asked).to.have.lengthOf(1);
      expect(asked[0]).to.include("all keys of all accounts");
      expect(revoked).to.deep.equal(isWanted ? ["all"] : []);
      expect([code, stderr]).to.deep.equal(isWanted ? [0, ""] : [1, "Nothing was revoked.\n"]);
    });
  }

  it("exits with 1 when files could not be deleted, with the whole report on stdout", async () => {
    const [none, one] = [
      { prefixes: 0, files: 0, bytes: 0 },
      { prefixes: 1, files: 1, bytes: 10 },
    ];
    const report = {
      isDryRun: false,
      listed: one,
      orphaned: one,
      deleted: none,
      failed: one,
      recent: none,
      unknown: none,
      next: null,
    };
    const app = {
      audio: { collect: () => Promise.resolve(report) },
      close: () => Promise.resolve(),
    } as unknown as OperatorApp;
    const { code, stdout } = await run(["audio", "collect", "--json"], {
      open: () => Promise.resolve({ app, present: {} as Presenters }),
    });
    const shown = {
      dry_run: false,
      listed: one,
      found: one,
      deleted: none,
      failed: one,
      left_alone: { recent: none, unknown: none },
    };
    expect([code, JSON.parse(stdout)]).to.deep.equal([1, shown]);
  });

  it("exits with 1 when the operation is refused, and with 2 when settings are wrong", async () => {
    const failing = (error: Error): Partial<CliHost> => ({ open: () => Promise.reject(error) });
    expect(await run(["accounts", "list"], failing(new OperationRefusedError("No.")))).to.deep.equal({
      code: 1,
      stdout: "",
      stderr: "No.\n",
    });
    expect(await run(["accounts", "list"], failing(new UsageIssue("Wrong.")))).to.deep.equal({
      code: 2,
      stdout: "",
      stderr: "Wrong.\n",
    });
  });

  it("writes an error as one line of JSON on stderr with --json, with the same exit code", async () => {
    const failing = (error: Error): Partial<CliHost> => ({ open: () => Promise.reject(error) });
    const list = ["accounts", "list", "--json"];
    const unavailable = new ServiceUnavailableError(undefined, undefined, { cause: new Error("disk is full") });
    const cases: readonly (readonly [readonly string[], Partial<CliHost>, number, object])[] = [
      [list, failing(new OperationRefusedError("No.")), 1, { code: "invalid_request", message: "No." }],
      [
        list,
        failing(unavailable),
        1,
        { code: "service_unavailable", message: "The service is temporarily unavailable. Try again. (disk is full)" },
      ],
      [list, failing(new Error("two\nlines")), 1, { code: "failed", message: "two\nlines" }],
      [
        list,
        failing(new InsufficientCreditsError({ required: 10, available: 5 })),
        1,
        {
          code: "insufficient_credits",
          message: new InsufficientCreditsError({ required: 10, available: 5 }).message,
          details: { required: 10, available: 5 },
        },
      ],
      [
        list,
        failing(new UsageIssue("Wrong.")),
        2,
        { code: "invalid_settings", message: "Wrong.", details: { issues: ["Wrong."] } },
      ],
      [["dance", "--json"], {}, 2, { code: "usage", message: "unknown command 'dance'" }],
      [
        ["accounts", "create", "alice", "--json"],
        {},
        2,
        { code: "usage", message: "required option '--tier <tier>' not specified" },
      ],
      [["accounts", "--json"], {}, 2, { code: "usage", message: "unknown option '--json'" }],
    ];
    for (const [args, host, code, error] of cases) {
      const ended = await run(args, host);
      expect([ended.code, ended.stdout], args.join(" ")).to.deep.equal([code, ""]);
      expect(ended.stderr).to.match(/^.+\n$/);
      expect(JSON.parse(ended.stderr), args.join(" ")).to.deep.equal({ error });
    }
    const behind = await run(["keys", "list", "--", "--json"], failing(new OperationRefusedError("No.")));
    expect(behind.stderr).to.equal("No.\n");
  });

  it("says why the storage is unavailable", async () => {
    const error = new ServiceUnavailableError(undefined, undefined, { cause: new Error("disk is full") });
    const { code, stderr } = await run(["accounts", "list"], { open: () => Promise.reject(error) });
    expect(code).to.equal(1);
    expect(stderr).to.match(/ \(disk is full\)\n$/);
  });

  it("closes the app whether the command works or not", async () => {
    let closed = 0;
    const accounts = { list: () => (closed === 0 ? Promise.resolve([]) : Promise.reject(new Error("gone"))) };
    const app = { accounts, close: async () => void closed++ } as unknown as OperatorApp;
    const host: Partial<CliHost> = { open: async () => ({ app, present: {} as Presenters }) };
    expect(await run(["accounts", "list"], host)).to.deep.equal({ code: 0, stdout: "No accounts.\n", stderr: "" });
    expect(await run(["accounts", "list"], host)).to.deep.equal({ code: 1, stdout: "", stderr: "gone\n" });
    expect(closed).to.equal(2);
  });

  it("hands start, serve and work to the host, with --json", async () => {
    const runs: unknown[] = [];
    const host: Partial<CliHost> = { run: async (mode, options) => runs.push([mode, options]) > 0 };
    for (const mode of ["start", "serve", "work"]) expect((await run([mode, "--json"], host)).code).to.equal(0);
    expect(runs).to.deep.equal([
      ["start", { json: true }],
      ["serve", { json: true }],
      ["work", { json: true }],
    ]);
  });

  it("ends with 1, and says no more, when a stop could not finish or release everything", async () => {
    expect(await run(["work"], { run: async () => false })).to.deep.equal({ code: 1, stdout: "", stderr: "" });
  });
});
