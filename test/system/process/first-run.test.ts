import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { decodeMp3 } from "../../support/audio-analysis.js";
import { eventually, type FermataCall, filesUnder, useSandbox } from "../../support/process.js";

interface Generation {
  readonly id: string;
  readonly status: string;
  readonly tracks: readonly { readonly play_url: string }[];
}

interface Ready {
  readonly url: string;
  readonly demo: { readonly id: string; readonly key?: string; readonly key_file?: string } | null;
}

describe("The first start on an empty data directory", function () {
  this.timeout(90_000);
  const sandbox = useSandbox();

  it("prints a curl command that ends in a link which plays; the second start creates no key", async () => {
    const dataDir = await sandbox.dataDir();
    const first = sandbox.spawn(["start"], dataDir);
    const [, curl = ""] = await first.line(/^ {2}(curl .+)$/m);
    const token = await first.demoKey();
    expect(first.stdout).to.match(/^listening on http:\/\/127\.0\.0\.1:\d+\n/);
    expect(first.stdout).to.match(/account `demo` .*tier pro, 1000 credits, terms accepted/);
    expect(first.stdout).to.match(/^Docs: http:\/\/127\.0\.0\.1:\d+\/docs$/m);
    expect(token).to.match(/^frm_/);
    expect(first.stdout + first.stderr).to.not.include(token);
    const keyFile = join(dataDir, "demo.key");
    expect((await stat(keyFile)).mode & 0o777).to.equal(0o600);

    const { stdout, stderr } = await promisify(execFile)("sh", ["-c", curl]);
    const { data: created } = JSON.parse(stdout) as { data: Generation };
    expect(created.status).to.equal("completed");
    expect(stderr, "a link alone on the last line").to.equal(`\n${created.tracks[0]?.play_url}\n`);
    const played = await fetch(stderr.trim());
    expect(played.headers.get("content-type")).to.equal("audio/mpeg");
    const { left, sampleRate } = await decodeMp3(new Uint8Array(await played.arrayBuffer()));
    expect(left.length / sampleRate).to.be.closeTo(30, 0.1);
    expect(await first.stop()).to.equal(0);

    const second = sandbox.spawn(["start"], dataDir);
    const url = await second.listening();
    const api = new ApiClient(url, token);
    expect(dataOf(await api.get("/api/v1/credits"))).to.include({ available: 990, total_spent: 10 });
    expect(dataOf<Generation>(await api.get(`/api/v1/generations/${created.id}`)).status).to.equal("completed");
    expect(await second.stop()).to.equal(0);
    expect(second.stdout).to.equal(`listening on ${url}\n`);
    expect((await readFile(keyFile, "utf8")).trim()).to.equal(token);
  });

  it("shows the key on a terminal, and stores it nowhere", async () => {
    const dataDir = await sandbox.dataDir();
    const started = sandbox.call(["start"], dataDir, {}, { isTerminal: true });
    const url = await started.listening();
    const [, token = ""] = /^ {2}(frm_\w+)$/m.exec(started.stdout) ?? [];
    expect((await new ApiClient(url, token).get("/api/v1/me")).status).to.equal(200);
    expect(started.stdout.split(token)).to.have.length(3, "the key alone and inside the curl line");
    expect(started.stderr).to.not.include(token);
    expect(await filesUnder(dataDir)).to.not.include("demo.key");

    const [, link = ""] = /^ {2}(http:\S+#code=\S+)$/m.exec(started.stdout) ?? [];
    expect(await studioAccountOf(link)).to.equal(await accountOf(url, token));
    expect(await started.stop()).to.equal(0);
    const later = sandbox.call(["start"], dataDir, {}, { isTerminal: true });
    const laterUrl = await later.listening();
    const [, again = ""] = /^ {2}(http:\S+#code=\S+)$/m.exec(later.stdout) ?? [];
    expect(await studioAccountOf(again)).to.equal(await accountOf(laterUrl, token));
    expect(later.stdout).to.not.include("frm_");
  });

  it("names the studio without a code where the output is no terminal; a command prints a link", async () => {
    const dataDir = await sandbox.dataDir();
    const started = sandbox.spawn(["start"], dataDir);
    const token = await started.demoKey();
    const url = await started.listening();
    expect(started.stdout).to.match(/^ {2}http:\/\/127\.0\.0\.1:\d+\/$/m);
    expect(started.stdout + started.stderr).to.not.include("code=");
    const linked = await sandbox.json<{ account_id: string; url: string }>(["studio", "link"], dataDir);
    const code = new URL(linked.url).hash;
    expect(await studioAccountOf(`${url}/${code}`)).to.equal(linked.account_id);
    expect(await accountOf(url, token)).to.equal(linked.account_id);
  });

  it("creates no account when demo.enabled is false; the operator creates the first", async () => {
    const dataDir = await sandbox.dataDir();
    const started = sandbox.call(["start"], dataDir, { FERMATA_DEMO__ENABLED: "false" });
    const url = await started.listening();
    const { id } = await sandbox.json<{ id: string }>(
      ["accounts", "create", "alice", "--tier", "plus", "--accept-terms"],
      dataDir,
    );
    const { key } = await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir);
    expect((await new ApiClient(url, key).get("/api/v1/me")).status).to.equal(200);
    const refused = await sandbox.command(["studio", "link", id], dataDir, { FERMATA_DEMO__ENABLED: "false" });
    expect([refused.code, refused.stderr]).to.deep.equal([1, "There is no studio: `studio.enabled` is false.\n"]);
    expect((await fetch(url)).status).to.equal(404);
    expect(await started.stop()).to.equal(0);
    expect(started.stdout).to.equal(`listening on ${url}\n`);
  });

  it("prints with --json one document with its URL and the location of the demo key", async () => {
    const started = sandbox.call(["start", "--json"], await sandbox.dataDir());
    const { url, demo } = await ready(started);
    expect(Object.keys(demo ?? {})).to.deep.equal(["id", "key_file"]);
    const key = (await readFile(demo?.key_file ?? "", "utf8")).trim();
    expect((await new ApiClient(url, key).get("/api/v1/me")).status).to.equal(200);
    expect(await started.stop()).to.equal(0);
  });

  it("includes the demo key in the document that --json prints on a terminal", async () => {
    const started = sandbox.call(["start", "--json"], await sandbox.dataDir(), {}, { isTerminal: true });
    const { url, demo } = await ready(started);
    expect(Object.keys(demo ?? {})).to.deep.equal(["id", "key"]);
    expect((await new ApiClient(url, demo?.key ?? null).get("/api/v1/me")).status).to.equal(200);
  });

  const accountOf = async (url: string, token: string): Promise<unknown> =>
    dataOf(await new ApiClient(url, token).get("/api/v1/me"))["id"];

  /** Whose studio a link opens, by what its page does. */
  async function studioAccountOf(link: string): Promise<unknown> {
    const { origin, hash } = new URL(link);
    expect(await (await fetch(origin)).text()).to.include("pages/studio.js");
    const session = `${origin}/api/v1/session`;
    const headers = { "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin" };
    const body = JSON.stringify({ code: new URLSearchParams(hash.slice(1)).get("code") });
    const opened = await fetch(session, { method: "POST", headers, body });
    const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
    const me = await fetch(`${origin}/api/v1/me`, { headers: { Cookie: cookie, "Sec-Fetch-Site": "same-origin" } });
    return ((await me.json()) as { readonly data: { readonly id: string } }).data.id;
  }

  function ready(started: FermataCall): Promise<Ready> {
    return eventually("ready", () => (started.stdout.endsWith("}\n") ? (JSON.parse(started.stdout) as Ready) : null));
  }
});
