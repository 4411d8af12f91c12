import { expect } from "chai";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { type Environment, eventually, type FermataCall, useSandbox } from "../../support/process.js";

describe("The port of the metrics", function () {
  this.timeout(60_000);
  const sandbox = useSandbox();

  /** A process that is ready. @returns where its log says that the metrics are */
  async function metricsOf(process: FermataCall, ready: RegExp): Promise<string> {
    await eventually("the process is ready", () => ready.test(process.stdout));
    const line = process.stderr.split("\n").find((text) => text.includes("Metrics are served"));
    return (JSON.parse(line ?? "{}") as { readonly url: string }).url;
  }

  it("is opened by work as well as by start; each takes the first port from metrics.port on that is free", async () => {
    const env: Environment = { FERMATA_METRICS__PORT: String(await aFreePort()), FERMATA_LOGS__FORMAT: "json" };
    const dataDir = await sandbox.dataDir();
    const server = sandbox.call(["start"], dataDir, env);
    const first = await metricsOf(server, /^listening on/m);
    expect(new URL(first).port).to.equal(env["FERMATA_METRICS__PORT"]);
    const worker = sandbox.call(["work"], dataDir, env);
    const second = await metricsOf(worker, /^working$/m);
    expect(Number(new URL(second).port)).to.be.above(Number(new URL(first).port));
    expect(worker.stderr).to.include("metrics.port is in use by another process");
    for (const url of [first, second]) {
      const page = await fetch(url);
      expect(page.status).to.equal(200);
      expect(await page.text()).to.match(/^# TYPE fermata_jobs_ended_total counter$/m);
    }
    expect([await worker.stop(), await server.stop()]).to.deep.equal([0, 0]);
  });

  it("is none for a worker whose settings want the metrics at the port of the API", async () => {
    const dataDir = await sandbox.dataDir();
    await sandbox.command(["migrate"], dataDir);
    const env = { FERMATA_METRICS__PORT: "", FERMATA_LOGS__FORMAT: "json" };
    const worker = sandbox.call(["work"], dataDir, env);
    await eventually("it works", () => /^working$/m.test(worker.stdout));
    expect(worker.stderr).to.not.include("Metrics are served");
    expect(await worker.stop()).to.equal(0);
  });

  it("names the address that it cannot have, when it is no port of this machine", async () => {
    const { code, stderr } = await sandbox.command(["start"], await sandbox.dataDir(), {
      FERMATA_METRICS__HOST: "192.0.2.1",
      FERMATA_METRICS__PORT: "9464",
    });
    expect(code).to.equal(1);
    expect(stderr).to.include("Cannot listen on 192.0.2.1:9464 (metrics.host, metrics.port): this machine does not");
  });
});

async function aFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
