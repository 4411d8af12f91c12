import { expect } from "chai";
import { createMysqlDatabase } from "../../support/mysql.js";
import { type PrivateMysql, query, startPrivateMysql, withoutTls } from "../../support/mysql-server.js";
import { type CommandResult, Sandbox } from "../../support/process.js";
import { freePort } from "../../support/services.js";

describe("A MySQL database that the settings name wrongly", function () {
  this.timeout(60_000);
  const sandbox = new Sandbox();
  let server: PrivateMysql;
  /** An empty database, for root. */
  let url: string;

  before(async () => {
    server = await startPrivateMysql([withoutTls()]);
    ({ url } = await createMysqlDatabase(server.server));
    const { pathname } = new URL(url);
    // A server may have an anonymous user of this machine, who would win over one of any machine.
    for (const host of ["%", "localhost"]) {
      for (const user of ["outsider", "reader"])
        await query(server.server, `CREATE USER '${user}'@'${host}' IDENTIFIED BY 'sesame'`);
      await query(server.server, `GRANT SELECT ON ${pathname.slice(1)}.* TO 'reader'@'${host}'`);
    }
  });
  after(async () => {
    await sandbox.clear();
    await server.close();
  });

  const changed = (change: (given: URL) => void): string => {
    const other = new URL(url);
    change(other);
    return other.href;
  };
  const withUser = (user: string, password = "sesame"): string =>
    changed((given) => Object.assign(given, { username: user, password }));

  async function refused(args: readonly string[], storage: string): Promise<CommandResult> {
    const result = await sandbox.command(args, await sandbox.dataDir(), { FERMATA_STORAGE__URL: storage });
    expect([result.code, result.stdout], result.stderr).to.deep.equal([1, ""]);
    expect(result.stderr).to.include("The database of storage.url cannot be used. ").and.not.include("sesame");
    expect(result.stderr).to.include("`npm run -s fermata -- doctor` checks the database and everything else.\n");
    return result;
  }

  const cases: readonly (readonly [string, () => string | Promise<string>, RegExp])[] = [
    [
      "another port",
      async () => {
        const port = String(await freePort());
        return changed((given) => (given.port = port));
      },
      /No session at 127\.0\.0\.1:\d+: connect ECONNREFUSED .* Start the server, or correct host and port in storage\.url\./,
    ],
    [
      "another host",
      () => changed((given) => (given.hostname = "nowhere.invalid")),
      /No session at nowhere\.invalid:\d+: getaddrinfo \w+ nowhere\.invalid\. Start the server, or correct host/,
    ],
    [
      "another password",
      () => withUser("outsider", "open"),
      /Access denied for user 'outsider'.*\. Correct user and password in storage\.url, or as an administrator: /,
    ],
    [
      "a user without rights",
      () => withUser("outsider"),
      /Access denied for user 'outsider'@'.*' to database .*\. As an administrator: GRANT SELECT, .* TO 'outsider'@'%';/,
    ],
    [
      "another database",
      () => changed((given) => (given.pathname = "/nowhere_yet")),
      /Unknown database 'nowhere_yet'\. As an administrator: CREATE DATABASE nowhere_yet /,
    ],
    [
      "TLS that the server has not got",
      () => changed((given) => (given.search = "?ssl=true")),
      /Server does not support secure connection\. Take ssl=true out of storage\.url, or let the server speak TLS\./,
    ],
  ];
  for (const [what, storage, message] of cases) {
    it(`is said of it, with the setting, the fix and doctor: ${what}`, async () => {
      const wrong = await storage();
      for (const args of [["migrate"], ["accounts", "list"], ["start"]])
        expect((await refused(args, wrong)).stderr).to.match(message);
    });
  }

  it("is said of it: a user that may not create tables", async () => {
    const { stderr } = await refused(["migrate"], withUser("reader"));
    expect(stderr).to.match(/Refused by 127\.0\.0\.1:\d+: CREATE command denied to user 'reader'@/);
    expect(stderr).to.match(/ As an administrator: GRANT SELECT, INSERT, .* ON \w+\.\* TO 'reader'@'%';/);
  });
});
