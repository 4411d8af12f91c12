import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { PROVIDER_PORT_VERSION } from "../../../plugins/sdk/index.js";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { eventually, type FermataProcess, useSandbox } from "../../support/process.js";

/** Does what it should not before it says that it cannot make anything. */
const plugin = (deed: string): string => `
  export default {
    id: "careless", label: "Careless", portVersion: ${PROVIDER_PORT_VERSION}, concurrency: 1, settings: {},
    models: [{
      id: "careless/song", name: "Song", creditCost: 5,
      supportsLyrics: false, supportsInstrumental: true, duration: null,
    }],
    capabilities: { idempotentSubmit: false, lookup: false, cancel: false },
    create: () => ({
      async submit() {
        ${deed}
        await new Promise((resolve) => setTimeout(resolve, 50));
        throw Object.assign(new Error("nothing is made here"), { kind: "failed" });
      },
    }),
  };`;

describe("An error of a plugin that no call of it throws", function () {
  this.timeout(60_000);
  const sandbox = useSandbox();

  async function started(deed: string): Promise<{ readonly server: FermataProcess; readonly api: ApiClient }> {
    const dataDir = await sandbox.dataDir();
    await writeFile(join(dataDir, "careless.mjs"), plugin(deed));
    const config = join(dataDir, "fermata.json");
    await writeFile(
      config,
      JSON.stringify({ plugins: { careless: { enabled: true, use: join(dataDir, "careless.mjs") } } }),
    );
    const server = sandbox.spawn(["start"], dataDir, {
      FERMATA_CONFIG: config,
      FERMATA_JOBS__UNKNOWN_GRACE_SECONDS: "1",
    });
    const url = await server.listening();
    return { server, api: new ApiClient(url, await server.demoKey()) };
  }

  const linesOf = ({ stderr }: FermataProcess): { readonly message: string; readonly error?: { message: string } }[] =>
    stderr
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as { message: string });

  it("is logged, where it is a promise that nothing waits for, and the process goes on", async () => {
    const { server, api } = await started('Promise.reject(new Error("a stray one"));');
    const { id } = dataOf<{ id: string }>(await api.generate({ model_id: "careless/song", prompt: "rain" }));
    await eventually("its end", async () => dataOf(await api.get(`/api/v1/generations/${id}`))["status"] === "failed");
    expect(dataOf(await api.get("/api/v1/credits"))).to.include({ total_spent: 0 });
    const [line] = linesOf(server).filter(({ error }) => error?.message === "a stray one");
    expect(line?.message).to.match(/^A promise was rejected that nothing waits for/);
    expect(await server.stop()).to.equal(0);
  });

  it("is logged, where it was thrown outside of any call, before the process ends", async () => {
    const { server, api } = await started('setTimeout(() => { throw new Error("from a timer"); }, 1);');
    await api.generate({ model_id: "careless/song", prompt: "rain" });
    expect((await server.exited).code).to.equal(1);
    const [line] = linesOf(server).filter(({ error }) => error?.message === "from a timer");
    expect(line?.message).to.match(/^The process ends: an exception was thrown outside of any call/);
  });
});
