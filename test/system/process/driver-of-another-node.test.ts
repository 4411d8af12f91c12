import { expect } from "chai";
import { useSandbox } from "../../support/process.js";

const asModule = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** What Node throws when it loads a binary that was built for another one. */
const OTHER_NODE = asModule(`
process.dlopen = (module, file) => {
  const message = "The module '" + file + "'\\nwas compiled against a different Node.js version.";
  throw Object.assign(new Error(message), { code: "ERR_DLOPEN_FAILED" });
};`);

describe("A better-sqlite3 that was built for another Node", function () {
  this.timeout(60_000);
  const sandbox = useSandbox();
  const fix = "Run `npm rebuild better-sqlite3` where Fermata is installed, with the Node that runs it.";
  const said = `better-sqlite3 was not built for Node ${process.versions.node} (ABI ${process.versions.modules}).`;

  it("is named by commands and doctor, with the command that builds it again", async () => {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const env = { NODE_OPTIONS: `--import=${OTHER_NODE}`, FERMATA_LOGS__LEVEL: "error" };
    const list = sandbox.spawn(["accounts", "list"], dataDir, env);
    expect((await list.exited).code).to.equal(1);
    expect(list.stderr).to.equal(`${said} ${fix}\n`);

    const doctor = sandbox.spawn(["doctor", "--json"], dataDir, env);
    expect((await doctor.exited).code).to.equal(1);
    const { checks } = JSON.parse(doctor.stdout) as {
      checks: readonly { name: string; result: string; message: string; fix: string | null }[];
    };
    const failed = checks.filter(({ result }) => result === "failed");
    expect(failed.map(({ name, message, fix: shown }) => [name, message, shown])).to.deep.equal([
      ["sqlite driver", said, fix],
    ]);
  });
});
