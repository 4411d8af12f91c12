import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { query, startPrivateMysql } from "../../support/mysql-server.js";
import { eventually } from "../../support/rabbitmq.js";
import { repositoryPath } from "../../support/repository.js";

const MODULE = pathToFileURL(repositoryPath("dist/test/support/mysql-server.js")).href;
const PROGRAM = `
  const { startPrivateMysql } = await import(${JSON.stringify(MODULE)});
  console.log((await startPrivateMysql()).server);`;

/** What tests use where no server runs on this machine. */
describe("A private server of tests", function () {
  this.timeout(60_000);

  it("keeps no process running that does not close it, and ends with that", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAM]);
    expect(stdout).to.match(/^mysql:\/\/root@127\.0\.0\.1:\d+\n$/);
    // While it ends, it may still take a connection, and drop it.
    await eventually(async () => {
      const refused = await query(stdout.trim(), "SELECT 1").catch((error: unknown) => error);
      expect(refused).to.have.property("code", "ECONNREFUSED");
    });
  });

  it("can be closed after it crashed", async () => {
    const own = await startPrivateMysql();
    await promisify(execFile)("pkill", ["-ABRT", "-f", `(mariadbd|mysqld) .*--port=${own.port} `]);
    await eventually(async () => {
      const refused = await query(own.server, "SELECT 1").catch((error: unknown) => error);
      expect(refused).to.have.property("code", "ECONNREFUSED");
    });
    await own.close();
  });
});
