import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { repositoryPath } from "../../support/repository.js";
import { eventually, useSandbox } from "../../support/process.js";
import { freePort } from "../../support/services.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = JSON.stringify({
  type: "generation.completed",
  timestamp: "2026-11-21T06:30:00.000Z",
  data: { job_id: "job_1" },
});

describe("The receiver in the guide of webhooks", function () {
  this.timeout(90_000);
  const sandbox = useSandbox();

  it("runs as printed, accepts a signed event once, and refuses a forged one", async () => {
    const readme = await readFile(repositoryPath("core/webhooks/README.md"), "utf8");
    const [, code = ""] = /```js\n([\s\S]*?standardwebhooks[\s\S]*?)```/.exec(readme) ?? [];
    expect(code.trim().split("\n").length).to.be.at.most(15);
    const folder = await sandbox.dataDir();
    const port = await freePort();
    await symlink(repositoryPath("node_modules"), join(folder, "node_modules"));
    await writeFile(join(folder, "receiver.mjs"), code.replace("3000", String(port)));
    const receiver = spawn(process.execPath, [join(folder, "receiver.mjs")], {
      env: { PATH: process.env["PATH"], SIGNING_SECRET: SECRET },
    });
    try {
      let output = "";
      receiver.stdout.on("data", (part: Buffer) => (output += part.toString()));
      const post = async (body: string, at = new Date()): Promise<number> => {
        const headers = {
          "Content-Type": "application/json",
          "webhook-id": "evt_1",
          "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
          "webhook-signature": new Webhook(SECRET).sign("evt_1", at, BODY),
        };
        return (await fetch(`http://127.0.0.1:${port}/hooks/fermata`, { method: "POST", headers, body })).status;
      };
      await eventually("listening", () => post(BODY).catch(() => null));
      expect(await post(BODY)).to.equal(204);
      expect(await post(BODY.replace("job_1", "job_2"))).to.equal(500);
      expect(await post(BODY, new Date(Date.now() - 3_600_000))).to.equal(500);
      expect(output).to.equal("generation.completed job_1\n");
    } finally {
      receiver.kill();
      await once(receiver, "exit");
    }
  });
});
