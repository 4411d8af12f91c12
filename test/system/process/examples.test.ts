import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { ExampleProcess } from "../../support/example-process.js";
import { InstalledPackage } from "../../support/installed-package.js";
import { repositoryPath } from "../../support/repository.js";
import { freePort } from "../../support/services.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe("The examples, with the packed package", function () {
  this.timeout(120_000);
  let app: InstalledPackage;
  let env: NodeJS.ProcessEnv;
  const running: ExampleProcess[] = [];
  before(async () => {
    app = await InstalledPackage.open();
    await app.addApp();
    for (const name of ["@types/express", "standardwebhooks"]) await app.install(name);
    const dataDir = join(app.folder, "data");
    env = { PATH: process.env["PATH"], FERMATA_DATA_DIR: dataDir, FERMATA_LOGS__LEVEL: "error" };
  });
  afterEach(() => Promise.all(running.splice(0).map((example) => example.kill())));
  after(() => app.remove());

  async function start(folder: string, name: string, given: NodeJS.ProcessEnv = {}): Promise<ExampleProcess> {
    const code = await readFile(repositoryPath("test", "examples", folder, `${name}.ts`), "utf8");
    await app.compile(name, code);
    const example = ExampleProcess.start(`${name}.js`, app.folder, { ...env, ...given });
    running.push(example);
    return example;
  }

  it("express-host: a site has the API at /music, and links lead there", async () => {
    const port = await freePort();
    const host = await start("express-host", "host", { PORT: String(port) });
    const [url = "", key = ""] = (await host.line()).split(" ");
    expect(await (await fetch(url)).text()).to.equal("A site with music of its own.");
    const api = new ApiClient(`${url}/music`, key);
    const { id } = dataOf<{ id: string }>(
      await api.generate({ model_id: "synth/instrumental", prompt: "rain", duration: 10 }, { Prefer: "wait=60" }),
    );
    const { tracks } = dataOf<{ tracks: { play_url: string }[] }>(await api.get(`/api/v1/generations/${id}`));
    const link = tracks[0]?.play_url ?? "";
    expect(link).to.include(`${url}/music/`);
    expect((await fetch(link)).headers.get("content-type")).to.match(/^audio\//);
    expect(await host.stop()).to.equal(0);
  });

  it("worker-only: works on what another process accepts, hears of its end, and opens no port", async () => {
    const port = await freePort();
    const worker = await start("worker-only", "worker");
    expect(await worker.line()).to.equal("working");
    const host = await start("express-host", "host", { PORT: String(port) });
    const [url = "", key = ""] = (await host.line()).split(" ");
    const api = new ApiClient(`${url}/music`, key);
    const input = { model_id: "synth/instrumental", prompt: "wind", duration: 10 };
    const { id } = dataOf<{ id: string }>(await api.generate(input, { "Idempotency-Key": "two" }));
    expect(await worker.line()).to.match(new RegExp(`^generation.completed ${id} \\d+$`));
    expect([await host.stop(), await worker.stop()]).to.deep.equal([0, 0]);
  });

  it("webhook-receiver: counts a signed event once, and refuses a forged or an old one", async () => {
    const port = await freePort();
    const receiver = await start("webhook-receiver", "receiver", { PORT: String(port), SIGNING_SECRET: SECRET });
    expect(await receiver.line()).to.equal("listening");
    const body = JSON.stringify({ type: "generation.completed", data: { job_id: "job_1" } });
    const post = async (id: string, sent = body, at = new Date()): Promise<number> => {
      const headers = {
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
        "webhook-signature": new Webhook(SECRET).sign(id, at, body),
      };
      return (await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body: sent })).status;
    };
    expect([await post("evt_1"), await post("evt_1"), await post("evt_2")]).to.deep.equal([204, 204, 204]);
    expect(await post("evt_3", body.replace("job_1", "job_2"))).to.equal(400);
    expect(await post("evt_4", body, new Date(Date.now() - 3_600_000))).to.equal(400);
    const lines = [await receiver.line(), await receiver.line()];
    expect(lines).to.deep.equal(["generation.completed job_1", "generation.completed job_1"]);
    expect(await receiver.stop()).to.equal(0);
    expect(await receiver.line()).to.equal("the example has ended");
  });
});
