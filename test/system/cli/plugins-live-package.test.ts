import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { ASSET_CONTENT_TYPES } from "../../../plugins/sdk/index.js";
import { KEY, owl, OWL_SONGS, owlVendor, WORK } from "../../support/plugins/owl.js";
import { type Environment, eventually, type FermataCall, useSandbox } from "../../support/process.js";
import { FakeApi, htmlPage, json, tinyMp3 } from "../../support/provider-kit/index.js";
import { type LiveDocument, outcomes } from "./live-document.js";

/** A track of the length that is asked for. */
const MIX = tinyMp3("hoot", 3);

describe("fermata plugins check --live, of a package", function () {
  this.timeout(60_000);
  const sandbox = useSandbox();
  let vendor: FakeApi;
  let dataDir: string;
  let use: string;
  beforeEach(async () => {
    vendor = await FakeApi.open();
    dataDir = await sandbox.dataDir();
    use = "./owl.mjs";
    await writeFile(join(dataDir, "owl.mjs"), owl());
    owlVendor(vendor, MIX);
  });
  afterEach(() => vendor.close());
  const env = (): Environment => ({
    FERMATA_PLUGINS__OWL__API_KEY: KEY,
    FERMATA_PLUGINS__OWL__BASE_URL: `${vendor.url.replace("//", "//reader:hidden@")}/?token=hidden`,
  });
  const begin = (...args: readonly string[]): FermataCall =>
    sandbox.call(["plugins", "check", "--live", use, "--yes", "--json", ...args], dataDir, env(), { cwd: dataDir });
  const documentOf = async (call: FermataCall): Promise<LiveDocument & { readonly code: number }> => {
    const code = await call.ended;
    expect(call.stdout, call.stderr).to.not.equal("");
    expect(call.stdout + call.stderr).to.not.include(KEY);
    expect(call.stdout + call.stderr).to.not.include("hidden");
    return { ...(JSON.parse(call.stdout) as LiveDocument), code };
  };

  it("polls until it is complete, and shows the cost that the provider names", async () => {
    const document = await documentOf(begin());
    expect(document.code, JSON.stringify(document)).to.equal(0);
    expect(outcomes(document)).to.deep.equal(["probe ok", "submit ok", "poll ok", "files ok"]);
    expect(document.addresses).to.deep.equal([`${vendor.url}/`]);
    expect(document.model).to.equal("owl/short");
    expect(document.expected_cost).to.deep.equal({ amount: 0.02, unit: "USD" });
    expect(document.purchase).to.deep.include({ billed: "yes", cost: { amount: 0.03, unit: "USD" } });
    expect(vendor.calls(WORK)).to.have.length(2);
  });

  it("cannot have a secret of its settings in the log", async () => {
    const call = begin();
    await documentOf(call);
    expect(call.stderr).to.include("Submitting with [redacted]");
  });

  it("only has its key tried where it has no models, and is refused where it has no probe either", async () => {
    const splitter = owl().replace(/models: \[[^]*?\n {2}\],/, "models: [],");
    await writeFile(join(dataDir, "owl.mjs"), splitter);
    const call = begin();
    const document = await documentOf(call);
    expect(document.code).to.equal(0);
    expect(call.stderr).to.match(/^generation +none: it has no models; only its key is tried$/m);
    expect(document).to.deep.include({ model: null, purchase: null });
    expect(vendor.requests.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(["GET /me"]);
    const silent = join(dataDir, "silent.mjs");
    await writeFile(silent, splitter.replace("async probe(", "async unused("));
    const args = ["plugins", "check", "--live", silent, "--yes"];
    const { code, stderr } = await sandbox.command(args, dataDir, env());
    expect([code, stderr]).to.deep.equal([1, "owl has neither a model nor a probe: there is nothing to try.\n"]);
  });

  it("is named by its id where several providers of the settings use it", async () => {
    const file = join(dataDir, "owl.mjs");
    const given = { FERMATA_PLUGINS__OWL__USE: file, FERMATA_PLUGINS__OWLET__USE: file };
    const { code, stderr } = await sandbox.command(["plugins", "check", "--live", file, "--yes"], dataDir, given);
    expect([code, stderr]).to.deep.equal([1, `${file} is the plugin of several providers; name one: owl, owlet.\n`]);
  });

  it("is found by its id where the settings name it", async () => {
    const given = { ...env(), FERMATA_PLUGINS__OWL__USE: join(dataDir, "owl.mjs") };
    const { code } = await sandbox.command(["plugins", "check", "--live", "owl", "--yes"], dataDir, given);
    expect(code).to.equal(0);
  });

  it("names what was bought when the work fails after it was accepted", async () => {
    vendor.on("GET", WORK.path, json({ state: "broken", words: `no \u001b[31mGPU for ${KEY}` }));
    const call = begin();
    const document = await documentOf(call);
    expect(document.code).to.equal(1);
    expect(outcomes(document)).to.deep.equal(["probe ok", "submit ok", "poll failed"]);
    expect(document.steps.at(-1)?.detail).to.include("failed: no ");
    expect(document.purchase).to.deep.include({ billed: "unknown", work: '{"song":"song-1"}' });
    expect(call.stdout).to.not.include("\u001b");
  });

  it("reports a page in place of a file, and a file of another type, by name", async () => {
    vendor.on("GET", "/page", htmlPage(200));
    const html = new TextEncoder().encode("<!doctype html><h1>Sign in</h1>");
    const mix = vendor.file(MIX);
    const files = [
      { role: "mix", url: mix, type: "audio/flac" },
      { role: "cover", url: mix, type: null },
      { role: "master", url: `${vendor.url}/page`, type: "audio/wav" },
      { role: "preview", url: vendor.file(html), type: null },
    ];
    vendor.on("GET", WORK.path, json({ state: "done", files }));
    const { host } = new URL(vendor.url);
    const document = await documentOf(begin());
    expect(document.code).to.equal(1);
    expect(outcomes(document).at(-1)).to.equal("files failed");
    expect(document.purchase?.billed).to.equal("yes");
    const types = ASSET_CONTENT_TYPES.join(", ");
    expect(document.tracks[0]?.files.map(({ content_type: type, issues }) => [type, issues])).to.deep.equal([
      ["audio/mpeg", ["The plugin says audio/flac; its bytes say audio/mpeg."]],
      ["audio/mpeg", ["It is audio/mpeg, which no cover can be."]],
      [null, [`It could not be had (failed): The download of ${host}/page failed: it is text/html, not a file.`]],
      [null, [`It could not be had (failed): It is neither audio nor an image that may be stored; allowed: ${types}.`]],
    ]);
  });

  it("waits at Ctrl-C for the reply to the submission, cancels the work, and says what may be billed", async () => {
    let reply: () => void = () => undefined;
    const after = new Promise<void>((resolve) => (reply = resolve));
    vendor.on("POST", OWL_SONGS.path, { ...json({ song: "song-1" }), after });
    const call = begin();
    await vendor.received(OWL_SONGS);
    call.signal("SIGINT");
    await eventually("the notice", () => call.stderr.includes("Interrupted: waiting for the reply"));
    expect(vendor.calls({ ...WORK, method: "DELETE" })).to.deep.equal([]);
    reply();
    const document = await documentOf(call);
    expect(document).to.deep.include({ code: 1, ok: false, interrupted: true });
    expect(outcomes(document)).to.deep.equal(["probe ok", "submit ok", "poll failed", "cancel ok"]);
    expect(document.purchase).to.deep.include({ billed: "unknown", work: '{"song":"song-1"}' });
    expect(vendor.calls({ ...WORK, method: "DELETE" })).to.have.length(1);
    expect(vendor.calls(WORK)).to.deep.equal([]);
  });

  it("cancels work that renders at Ctrl-C", async () => {
    vendor.on("GET", WORK.path, json({ state: "running", waitMs: 60_000 }));
    const call = begin();
    await vendor.received(WORK);
    await eventually("the first poll", () => call.stderr.includes("poll: still running"));
    call.signal("SIGINT");
    const document = await documentOf(call);
    expect(outcomes(document)).to.deep.equal(["probe ok", "submit ok", "poll failed", "cancel ok"]);
  });

  it("refuses what exports no definition", async () => {
    await writeFile(join(dataDir, "owl.mjs"), "export default { id: 7 };");
    const call = begin();
    expect(await call.ended).to.equal(1);
    const { error } = JSON.parse(call.stderr) as { error: { code: string; message: string } };
    expect(error.code).to.equal("invalid_request");
    expect(error.message).to.match(/^\.\/owl\.mjs: it speaks port version /);
  });
});
