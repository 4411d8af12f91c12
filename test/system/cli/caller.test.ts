import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect } from "chai";
import { audioTypeOf } from "../../../core/library/audio-type.js";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { type CommandResult, type Environment, eventually, Sandbox } from "../../support/process.js";
import { openRelayTo } from "../../support/relay.js";
import { startTestApp } from "../../support/test-app.js";

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly outputs: readonly { readonly label: string; readonly track_id: string; readonly url: string }[];
  readonly files: readonly { readonly path: string; readonly label: string; readonly size_bytes: number }[];
}

describe("fermata as the command of a caller", function () {
  this.timeout(120_000);
  const sandbox = new Sandbox();
  let api: ApiClient;
  let env: Environment;
  /** A new folder, in which commands of a test run. */
  let folder: string;

  before(async () => {
    const dataDir = await sandbox.dataDir();
    const url = await sandbox.call(["start"], dataDir, { FERMATA_DEMO__ENABLED: "false" }).listening();
    const create = ["accounts", "create", "alice", "--tier", "pro", "--accept-terms", "--credits", "1000"];
    const { id } = await sandbox.json<{ id: string }>(create, dataDir);
    const { key } = await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir);
    api = new ApiClient(url, key);
  });
  beforeEach(async () => {
    folder = await sandbox.dataDir();
    env = { HOME: folder, XDG_CONFIG_HOME: "", FERMATA_URL: api.url, FERMATA_API_KEY: api.key ?? "" };
  });
  after(() => sandbox.clear());

  /** Runs in the test's folder; the data directory has nothing, as on the machine of a caller. */
  async function fermata(args: readonly string[], given: Environment = {}): Promise<CommandResult> {
    const call = sandbox.call(args, join(folder, "none"), { ...env, ...given }, { cwd: folder });
    const code = await call.ended;
    return { code, stdout: call.stdout, stderr: call.stderr, json: <T>() => JSON.parse(call.stdout) as T };
  }

  async function done(args: readonly string[], given: Environment = {}): Promise<CommandResult> {
    const result = await fermata(args, given);
    expect(result.code, result.stderr).to.equal(0);
    return result;
  }

  const bytesOf = async (url: string): Promise<Buffer> => Buffer.from(await (await fetch(url)).arrayBuffer());
  const jobOf = async (id: string): Promise<Job> => dataOf<Job>(await api.get(`/api/v1/jobs/${id}`));
  const credits = async (): Promise<number> =>
    dataOf<{ available: number }>(await api.get("/api/v1/credits")).available;

  it("makes music and writes the bytes of the track, under the ending that it has", async () => {
    const { stdout, stderr } = await done(["generate", "slow sad piano", "--duration", "5", "--out", "rain.mp3"]);
    const path = join(folder, "rain.mp3");
    expect(stdout).to.equal(`${path}\n`);
    const [, id = ""] = /^(job_\w+) was accepted for 10 credits\.$/m.exec(stderr) ?? [];
    const { outputs } = await jobOf(id);
    const bytes = await readFile(path);
    expect(bytes.equals(await bytesOf(outputs[0]?.url ?? ""))).to.equal(true);
    expect([audioTypeOf(bytes), await readdir(folder)]).to.deep.equal(["mp3", ["rain.mp3"]]);

    const again = (await done(["wait", id, "--out", "again", "--json"])).json<Job>();
    expect(again.files).to.deep.equal([{ path: join(folder, "again.mp3"), label: "full", size_bytes: bytes.length }]);
    const other = await done(["wait", id, "--out", "again.wav", "--force"]);
    expect(other.stdout).to.equal(`${join(folder, "again.mp3")}\n`);
    expect(other.stderr).to.include("The track has another format: ");
  });

  it("refuses to replace a file before anything is bought, and replaces it with --force", async () => {
    await writeFile(join(folder, "rain.mp3"), "mine");
    const before = await credits();
    const args = ["generate", "rain", "--duration", "5", "--out", "rain.mp3"];
    const { code, stderr } = await fermata(args);
    expect([code, stderr]).to.deep.equal([
      1,
      "There is a file rain.mp3 already; name another, or replace it with --force.\n",
    ]);
    expect([await readFile(join(folder, "rain.mp3"), "utf8"), await credits()]).to.deep.equal(["mine", before]);
    expect((await fermata(["generate", "rain", "--out", "no/such/rain.mp3"])).stderr).to.include("There is no folder ");
    await done([...args, "--force"]);
    expect(audioTypeOf(await readFile(join(folder, "rain.mp3")))).to.equal("mp3");
  });

  it("charges a repeated command with the same key once", async () => {
    const before = await credits();
    const args = ["generate", "rain", "--duration", "5", "--model", "synth/instrumental", "--key", "k-1", "--json"];
    const [first, second] = [(await done(args)).json<Job>(), (await done(args)).json<Job>()];
    expect([second.job_id, before - (await credits())]).to.deep.equal([first.job_id, 10]);
  });

  it("splits a track into files that are named after their parts, and finds it in the library", async () => {
    const made = (await done(["generate", "calm zither", "--duration", "5", "--json"])).json<Job>();
    const track = made.outputs[0]?.track_id ?? "";
    const { files, outputs } = (await done(["split", track, "--out", "stems", "--json"])).json<Job>();
    expect(files.map(({ label }) => label)).to.include.members(["bass", "other"]);
    for (const [index, { path, label, size_bytes: size }] of files.entries()) {
      expect(path).to.match(new RegExp(`/stems/${label}\\.(flac|wav|mp3)$`));
      expect((await stat(path)).size).to.equal(size);
      expect((await readFile(path)).equals(await bytesOf(outputs[index]?.url ?? "")), path).to.equal(true);
    }

    const before = await credits();
    const stem = files.find(({ label }) => label === "bass")?.path ?? "";
    await writeFile(stem, "mine");
    const refused = await fermata(["split", track, "--out", "stems"]);
    expect([refused.code, refused.stdout, refused.stderr, await credits()]).to.deep.equal([
      1,
      "",
      `There is a file ${stem} already; name another folder, or replace it with --force.\n`,
      before,
    ]);
    expect(await readFile(stem, "utf8")).to.equal("mine");
    await done(["split", track, "--out", "stems", "--force"]);
    expect(await readFile(stem, "utf8")).not.to.equal("mine");

    const found = (await done(["library", "search", "zither"])).stdout;
    expect(found).to.match(new RegExp(`^${track}  Calm Zither  `));
    expect((await done(["credits", "show", "--json"])).json()).to.have.property("available", await credits());
    expect((await done(["models", "list"])).stdout).to.match(/^synth\/instrumental +10 credits +available$/m);
  });

  it("says, where files of a paid job are in the way, what fetches them all the same", async () => {
    const args = ["generate", "rain", "--duration", "5", "--out", "rain.wav"];
    await writeFile(join(folder, "rain.mp3"), "mine");
    const refused = await fermata(args);
    const [, goOn = ""] = /^Go on with `.* (wait job_.*)`, which replaces the files/m.exec(refused.stderr) ?? [];
    expect([refused.code, goOn.split(" ").slice(2)], refused.stderr).to.deep.equal([
      1,
      ["--out", "rain.wav", "--force"],
    ]);
    expect(refused.stderr).to.include(`There is a file ${join(folder, "rain.mp3")} already; `);
    await done(goOn.split(" "));
    expect(audioTypeOf(await readFile(join(folder, "rain.mp3")))).to.equal("mp3");
  });

  it("goes on by itself when the connection is lost, and charges once", async () => {
    const { hostname, port } = new URL(api.url);
    let isLost = false;
    const relay = await openRelayTo(
      { host: hostname, port: Number(port) },
      {
        // The reply to the first creation does not come back.
        fateOf: (bytes) => {
          if (isLost || !bytes.includes("POST /api/v1/generations")) return "pass";
          isLost = true;
          return "lose-reply";
        },
      },
    );
    try {
      const before = await credits();
      const args = ["generate", "rain [[delay:2]]", "--duration", "5", "--json"];
      const call = sandbox.call(args, join(folder, "none"), { ...env, FERMATA_URL: `http://${relay.address}` });
      await eventually("rendering", async () => {
        const [newest] = dataOf<{ generations: { status: string }[] }>(
          await api.get("/api/v1/generations?limit=1"),
        ).generations;
        return isLost && newest?.status === "processing";
      });
      relay.cut();
      expect(await call.ended, call.stderr).to.equal(0);
      expect((JSON.parse(call.stdout) as Job).status).to.equal("completed");
      expect([isLost, before - (await credits())]).to.deep.equal([true, 10]);
    } finally {
      await relay.close();
    }
  });

  it("leaves the job at Ctrl-C in a process of its own, which `wait` goes on with", async () => {
    const args = ["generate", "rain [[delay:3]]", "--duration", "5", "--out", join(folder, "rain.mp3")];
    const started = sandbox.spawn(args, join(folder, "none"), env);
    await eventually("accepted", () => started.stderr.includes("was accepted"));
    expect([await started.stop("SIGINT"), started.stdout]).to.deep.equal([130, ""]);
    const [, id = ""] = /^(job_\w+) is left running\.$/m.exec(started.stderr) ?? [];
    expect(started.stderr).to.include(`fermata -- wait ${id} --out ${join(folder, "rain.mp3")}\``);
    await done(["wait", id, "--out", "rain.mp3"]);
    expect(audioTypeOf(await readFile(join(folder, "rain.mp3")))).to.equal("mp3");
  });

  it("cancels the job at Ctrl-C where that was said beforehand, and its credits are back", async () => {
    // Without workers, so that nothing is bought of it.
    const idle = await startTestApp({ settings: { plugins: { synth: { enabled: true } } } });
    try {
      const { api: owner, key } = await idle.account({ credits: 100 });
      const available = async (): Promise<unknown> => dataOf(await owner.get("/api/v1/credits"))["available"];
      const args = ["generate", "rain", "--duration", "5", "--on-interrupt", "cancel"];
      const given = { ...env, FERMATA_URL: idle.url, FERMATA_API_KEY: key };
      const call = sandbox.call(args, join(folder, "none"), given, { cwd: folder });
      await eventually("accepted", () => call.stderr.includes("was accepted for 10 credits"));
      expect(await available()).to.equal(90);
      call.signal("SIGINT");
      expect([await call.ended, call.stdout]).to.deep.equal([130, ""]);
      const [, id = ""] = /^(job_\w+) is cancelled; its credits are refunded\.$/m.exec(call.stderr) ?? [];
      const job = dataOf(await owner.get(`/api/v1/jobs/${id}`));
      expect(job).to.include({ status: "failed", credits_charged: 0 });
      expect(job).to.have.nested.property("error.details.reason", "cancelled");
      expect(await available()).to.equal(100);
    } finally {
      await idle.close();
    }
  });

  it("asks on a terminal what becomes of the job", async () => {
    const keyboard = new PassThrough();
    const args = ["generate", "rain [[delay:2]]", "--duration", "5"];
    const call = sandbox.call(args, join(folder, "none"), env, { keyboard });
    await eventually("accepted", () => call.stderr.includes("was accepted"));
    call.signal("SIGINT");
    await eventually("a question", () => call.stderr.includes("Cancel the job, or leave it running?"));
    keyboard.write("l\n");
    expect([await call.ended, call.stdout]).to.deep.equal([130, ""]);
    expect(call.stderr).to.include(" is left running.");
  });

  it("prints the events of the account, with the bodies that webhooks carry", async () => {
    const { job_id: id } = (await done(["generate", "rain", "--duration", "5", "--json"])).json<Job>();
    const args = ["webhooks", "listen", "--since", "2020-01-01", "--json"];
    const call = sandbox.call(args, join(folder, "none"), env);
    await eventually("the event", () => call.stdout.includes(id));
    call.signal("SIGINT");
    expect(await call.ended, call.stderr).to.equal(0);
    const event = JSON.parse(call.stdout.trim().split("\n").at(-1) ?? "") as object;
    expect(event).to.have.nested.property("body.type", "generation.completed");
    expect(event).to.have.nested.property("body.data.job_id", id);
  });

  describe("login", () => {
    const profile = (): string => join(folder, ".config", "fermata", "profiles.json");
    const NO_ENV = { FERMATA_URL: "", FERMATA_API_KEY: "" };

    it("keeps address and key in a file for its user alone, which other commands take", async () => {
      const { stdout } = await done(["login"]);
      expect(stdout).to.match(
        /^Signed in at http:\/\/127\.0\.0\.1:\d+ as acct_\w+ \(pro\); the profile default is in /,
      );
      expect(stdout).to.not.include(api.key);
      expect((await stat(profile())).mode & 0o777).to.equal(0o600);
      expect(JSON.parse(await readFile(profile(), "utf8"))).to.deep.equal({
        profiles: { default: { url: api.url, api_key: api.key } },
      });
      await done(["login", "--profile", "work"]);
      await done(["credits", "show"], NO_ENV);
      await done(["credits", "show", "--profile", "work"], { FERMATA_API_KEY: "frm_wrong" });
      const { code, stderr } = await fermata(["credits", "show", "--profile", "lost"], NO_ENV);
      expect([code, stderr]).to.deep.equal([1, `There is no profile lost in ${profile()}; it has: default, work.\n`]);
    });

    it("asks on a terminal, and does not show the key", async () => {
      const keyboard = new PassThrough();
      const call = sandbox.call(["login"], join(folder, "none"), { ...env, ...NO_ENV }, { keyboard });
      await eventually("the first question", () => call.stderr.includes("Address of the server: "));
      keyboard.write(`${api.url}\n`);
      await eventually("the second question", () => call.stderr.includes("API key: "));
      keyboard.write(`${api.key}\n`);
      expect(await call.ended, call.stderr).to.equal(0);
      expect(call.stdout + call.stderr).to.not.include(api.key);
      expect(await readFile(profile(), "utf8")).to.include(api.key);
    });

    it("keeps nothing when the server refuses the key, and does not repeat it", async () => {
      const { code, stdout, stderr } = await fermata(["login"], { FERMATA_API_KEY: "frm_wrong" });
      expect([code, stdout]).to.deep.equal([1, ""]);
      expect(stderr)
        .to.match(/^The API key is not valid\..* \(request req_\w+\)\n$/)
        .and.to.not.include("frm_wrong");
      expect(await readdir(folder)).to.deep.equal([]);
      const generated = await fermata(["generate", "rain", "--json"], { FERMATA_API_KEY: "frm_wrong" });
      expect(generated.code).to.equal(1);
      expect(JSON.parse(generated.stderr)).to.have.nested.property("error.code", "invalid_api_key");
    });

    it("and every command refuse a file that others can read", async () => {
      await mkdir(join(folder, ".config", "fermata"), { recursive: true });
      await writeFile(profile(), JSON.stringify({ profiles: { default: { url: api.url, api_key: api.key } } }), {
        mode: 0o644,
      });
      for (const args of [["login"], ["credits", "show"]]) {
        const { code, stderr } = await fermata(args, args[0] === "login" ? {} : NO_ENV);
        expect(code).to.equal(1);
        expect(stderr).to.equal(
          `${profile()} has API keys and is open to other users (mode 644); allowed: mode 600. ` +
            `Run: chmod 600 ${profile()}\n`,
        );
      }
    });

    it("gives a key to its own server alone", async () => {
      await done(["login"]);
      const { code, stderr } = await fermata(["credits", "show", "--url", "https://other.example"], NO_ENV);
      expect(code).to.equal(1);
      expect(stderr).to.include(`the one of the profile default is for ${api.url} alone`);
    });
  });
});
