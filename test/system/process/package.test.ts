import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { ApiClient } from "../../support/api-client.js";
import { wavFile } from "../../support/audio-files.js";
import { ExampleProcess } from "../../support/example-process.js";
import { ended, InstalledPackage, type Manifest } from "../../support/installed-package.js";
import { eventually, FermataProcess } from "../../support/process.js";
import { programsIn } from "../../support/readme-programs.js";
import { repositoryPath } from "../../support/repository.js";
import { freePort } from "../../support/services.js";

/** A second of one tone. */
const HUM = wavFile({
  channels: [Float32Array.from({ length: 44_100 }, (_, at) => Math.sin(at / 20))],
  sampleRate: 44_100,
});

/** What files in this repository import, and what an installed package imports in its place. */
const SPECIFIERS = {
  '"../../../config/index.js"': '"fermata-music"',
  '"../../contracts.js"': '"fermata-music/testing/contracts"',
  '"../../index.js"': '"fermata-music/testing"',
};

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const EVENT = JSON.stringify({ type: "generation.completed", data: { job_id: "job_1" } });

function signedHeaders(): Record<string, string> {
  const now = new Date();
  return {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(SECRET).sign("evt_1", now, EVENT),
  };
}

/** Packed as `npm pack` does from the build, with only the dependencies of its manifest. */
describe("The package, installed by another app", function () {
  this.timeout(120_000);
  let app: InstalledPackage;
  let folder: string;
  let installed: string;
  let manifest: Manifest;
  let running: FermataProcess | undefined;

  before(async () => {
    app = await InstalledPackage.open();
    ({ folder, path: installed, manifest } = app);
    await app.addApp();
  });
  after(async () => {
    await running?.kill();
    await app.remove();
  });

  /** That of the package, started when it is first asked for. */
  function server(): FermataProcess {
    const env = { FERMATA_DATA_DIR: join(folder, "data"), FERMATA_HTTP__PORT: "0" };
    running ??= new FermataProcess(["start"], env, folder, join(installed, "dist", "config", "main.js"));
    return running;
  }

  it("serves the API description and its page", async () => {
    const api = new ApiClient(await server().listening(), null);
    const page = await api.get("/docs");
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link as string);
    expect(files.map((file) => file.split("?")[0])).to.include.members(["pages/docs.js", "pages/docs.css"]);
    for (const file of files) expect((await api.get(`/${file}`)).status, file).to.equal(200);
  });

  it("has the client of the API in one module, without a library, and with its types", async () => {
    const code = programsIn("adapters/client/README.md", "fermata-music/client")[0] ?? "";
    expect(code).to.include("client.generate(");
    await app.compile("client", code, true);
    const call = 'import { createClient } from "fermata-music/client"; createClient({ baseUrl: "http://127.0.0.1:9", ';
    const { code: status, output } = await ended(
      [
        ...["--input-type=module", "--eval"],
        `${call} retries: 0 }).GET("/api/v1/me").catch((e) => console.log(e.name));`,
      ],
      folder,
    );
    expect([status, output]).to.deep.equal([0, "NetworkError\n"]);
    const files = await readdir(join(installed, "dist/adapters/client"), { recursive: true });
    expect(files.filter((file) => file.endsWith(".js"))).to.deep.equal(["generated/client.js"]);
    expect(files).to.include("generated/licences.txt");
  });

  it("has a client whose README works as printed: it makes music, and receives webhooks", async () => {
    const [generates = "", receives = "", ...others] = programsIn("adapters/client/README.md", "fermata-music/client");
    expect(others).to.deep.equal([]);
    const url = await server().listening();
    const code = generates.replace("http://127.0.0.1:8080", url).replace("<API_KEY>", await server().demoKey());
    const made = await app.compiledAndRun("music", code.replace("duration: 30", "duration: 5"), []);
    expect(made.output).to.match(/ http:\/\/127\.0\.0\.1:\d+\/audio\/\S+\n(\d+\n)+$/);
    expect(made.code).to.equal(0);

    const port = await freePort();
    await app.compile("receiver", receives.replace("<SIGNING_SECRET>", SECRET).replace("3000", String(port)));
    const receiver = ExampleProcess.start("receiver.js", folder, process.env);
    try {
      const post = (body: string): Promise<Response> =>
        fetch(`http://127.0.0.1:${port}`, { method: "POST", headers: signedHeaders(), body });
      const forged = await eventually("listening", () => post(EVENT.replace("job_1", "job_2")).catch(() => null));
      expect([forged.status, (await post(EVENT)).status]).to.deep.equal([400, 204]);
      expect(await receiver.line()).to.equal("generation.completed job_1");
    } finally {
      await receiver.kill();
    }
  });

  it("contains the licences of everything in it", async () => {
    const ofPages = await readFile(join(installed, "dist/adapters/http/generated/web/licences.txt"), "utf8");
    const notices = await readFile(join(installed, ".github", "THIRD-PARTY-NOTICES.md"), "utf8");
    const bundled = [...ofPages.matchAll(/^(\S+) [\d.]+ \(/gm)].map(([, name = ""]) => name);
    expect(bundled).to.include.members(["@preact/signals", "openapi-fetch", "preact", "uplot"]);
    for (const name of bundled) expect(notices).to.include(`\n| ${name} | `);
  });

  describe("in the code of that app", () => {
    it("needs no types of Express where the app does not import Express", async () => {
      const program = `
        import { compose, loadSettings, type RequestHandler } from "fermata-music";
        import type { Http } from "fermata-music/express";
        import { ProviderFailure } from "fermata-music/provider";
        import { ManualClock } from "fermata-music/testing";
        const dataDir = process.env["FERMATA_DATA_DIR"] ?? "";
        const overrides = { dataDir, logs: { level: "error" } } as const;
        const app = await compose(loadSettings({ env: {}, cwd: dataDir, overrides }), { actor: "shop" });
        const handler: RequestHandler = app.router;
        const same: Http["router"] = handler;
        console.log(same.length, new ProviderFailure("gone", "x").kind, new ManualClock().now() > 0);
        await app.stop();
      `;
      const env = { FERMATA_DATA_DIR: join(folder, "untyped") };
      await app.compile("untyped", program, true);
      expect(await ended(["untyped.js"], folder, env)).to.deep.equal({ code: 0, output: "3 gone true\n" });
    });

    it("is embedded as the README says: the example compiles, and a generation is paid for and split", async () => {
      const [program = ""] = programsIn("core/README.md", "fermata-music");
      await app.install("@types/express"); // which an Express app has
      await mkdir(join(folder, "music"));
      for (const file of ["hum.wav", "music/rain.wav"]) await writeFile(join(folder, file), HUM);
      const env = { FERMATA_DATA_DIR: join(folder, "embedded"), FERMATA_LOGS__LEVEL: "error" };
      const { code, output } = await app.compiledAndRun("embedding", program, [], env);
      const [shared = "", labels = "", sums = "", ...others] = output.trim().split("\n");
      expect(shared, output).to.match(/^.+ http:\/\/127\.0\.0\.1:8080\/share\/\S+$/);
      expect(labels).to.match(/^\[ '\w+'/);
      expect(sums).to.match(/^1 null Hummed \d+$/);
      expect([code, others]).to.deep.equal([0, []]);
    });

    it("commits an order with what it buys as the README says, and neither of an order that fails", async () => {
      const program = programsIn("core/README.md", "fermata-music").find((code) => code.includes("transaction: order"));
      const env = { FERMATA_DATA_DIR: join(folder, "orders"), FERMATA_LOGS__LEVEL: "error" };
      const { code, output } = await app.compiledAndRun("orders", program ?? "", [], env);
      expect({ code, output }).to.deep.equal({ code: 0, output: "completed 90 1\n" });
      const again = await app.compiledAndRun("orders", program ?? "", [], env);
      expect(again.code).to.equal(1); // there is an order 17 already
      expect(again.output).to.include("UNIQUE constraint failed: orders.id");
    });

    it("hears of ends as the README says: the example compiles, and keeps the cursor", async () => {
      const program = programsIn("core/README.md", "fermata-music").find((code) => code.includes("app.events.on("));
      await app.compile("events", program ?? "");
      const env = { ...process.env, FERMATA_DATA_DIR: join(folder, "embedded"), FERMATA_LOGS__LEVEL: "error" };
      const child = spawn(process.execPath, ["events.js"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
      const exit = once(child, "exit");
      const lines: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        // Of the example before: a generation, and its split.
        if (lines.push(line) === 2) child.kill("SIGTERM");
      }
      expect((await exit)[0]).to.equal(0);
      expect(lines.map((line) => line.replace(/job_\w+/, "ID"))).to.deep.equal([
        "generation.completed ID 10",
        "stem_split.completed ID 8",
      ]);
      expect(await readFile(join(folder, "cursor.txt"), "utf8")).to.equal("2");
    });

    it("gives doubles without any of its peers: the example of an app's test compiles and passes", async () => {
      const { resolve } = createRequire(join(installed, "dist", "test", "index.js"));
      for (const peer of Object.keys(manifest.peerDependencies)) expect(() => resolve(peer), peer).to.throw(peer);
      const programs = programsIn("test/README.md", "fermata-music/testing");
      expect(programs).to.have.lengthOf(1);
      const { code, output } = await app.compiledAndRun("host", programs[0] ?? "", ["--test"]);
      expect(output)
        .to.match(/^[#ℹ] pass 2$/m)
        .and.match(/^[#ℹ] fail 0$/m);
      expect(code).to.equal(0);
    });

    it("names the first missing peer when contract suites are imported without one", async () => {
      const { code, output } = await ended(
        ["--input-type=module", "--eval", 'import "fermata-music/testing/contracts";'],
        folder,
      );
      expect([code, output]).to.satisfy(
        ([status, text]: [number, string]) => status === 1 && text.includes("Cannot find package 'chai'"),
        output,
      );
    });

    describe("with its peers", () => {
      let mocha: readonly string[];
      before(async () => {
        for (const peer of Object.keys(manifest.peerDependencies)) await app.install(peer);
        mocha = [join(folder, "node_modules", "mocha", "bin", "mocha.js"), "--no-config"];
      });

      it("gives contract suites: the example of an adapter's test compiles and passes", async () => {
        const programs = programsIn("test/README.md", "fermata-music/testing/contracts");
        expect(programs).to.have.lengthOf(1);
        const { code, output } = await app.compiledAndRun("queue", programs[0] ?? "", mocha);
        expect(output)
          .to.include("JobQueue contract: MicrotaskJobQueue")
          .and.match(/1\d passing/);
        expect([code, output.includes("failing")], output).to.deep.equal([0, false]);
      });

      it("reports by name what an adapter breaks", async () => {
        const whole = await readFile(join(folder, "queue.js"), "utf8");
        const deaf = whole.replace("queueMicrotask(() => void this.call(listener, notification));", "void listener;");
        expect(deaf).to.not.equal(whole);
        await writeFile(join(folder, "deaf.js"), deaf);
        const { code, output } = await ended([...mocha, "--timeout", "100", "deaf.js"], folder);
        expect(output).to.match(/\d+\) passes notifications to the listener of their provider/);
        expect(code).to.be.greaterThan(0);
      });

      it("gives contract suites of stores, which an author runs on stores of their own", async () => {
        const source = await readFile(repositoryPath("test/support/outside/stores.contracts.ts"), "utf8");
        const code = Object.entries(SPECIFIERS).reduce((text, [from, to]) => text.replaceAll(from, to), source);
        expect(code).to.not.include('"../');
        const stores = await app.compiledAndRun("stores", code, mocha);
        expect(stores.output)
          .to.include("AccountStore contract: MemoryAccountStore")
          .and.include("AudioStore contract: MemoryAudioStore")
          .and.match(/6\d passing/);
        expect([stores.code, stores.output.includes("failing")], stores.output).to.deep.equal([0, false]);
      });
    });
  });
});
