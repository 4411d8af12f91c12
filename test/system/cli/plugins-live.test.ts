import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect } from "chai";
import { API_KEY, COMPOSE, detailed, PLAN, refusal } from "../../plugins/elevenlabs-support.js";
import { SUBSCRIPTION, subscription } from "../../plugins/elevenlabs-support.js";
import { type CommandResult, type Environment, eventually } from "../../support/process.js";
import { type FermataCall, useSandbox } from "../../support/process.js";
import { FakeApi, tinyMp3 } from "../../support/provider-kit/index.js";
import { type LiveDocument, outcomes } from "./live-document.js";

/** A track of the length that is asked for. */
const MIX = tinyMp3("harbour", 3);

describe("fermata plugins check --live, of a built-in plugin", function () {
  this.timeout(60_000);
  const sandbox = useSandbox();
  let vendor: FakeApi;
  let dataDir: string;
  beforeEach(async () => {
    vendor = await FakeApi.open();
    dataDir = await sandbox.dataDir();
  });
  afterEach(() => vendor.close());

  const elevenLabs = (): Environment => ({
    FERMATA_PLUGINS__ELEVENLABS__API_KEY: API_KEY,
    FERMATA_PLUGINS__ELEVENLABS__BASE_URL: vendor.url,
  });
  const check = (...args: readonly string[]): Promise<CommandResult> =>
    sandbox.command(["plugins", "check", "--live", "elevenlabs", ...args], dataDir, elevenLabs());

  /** On a terminal. */
  const ask = (keyboard: PassThrough): FermataCall =>
    sandbox.call(["plugins", "check", "--live", "elevenlabs"], dataDir, elevenLabs(), { keyboard });

  function sells(sound = MIX): void {
    vendor.on(SUBSCRIPTION.method, SUBSCRIPTION.path, subscription());
    vendor.on(COMPOSE.method, COMPOSE.path, detailed(sound));
  }

  it("buys one short generation of the cheapest model with the real key, and finds its files right", async () => {
    sells();
    const { code, stderr, ...result } = await check("--yes", "--json");
    expect(code, stderr).to.equal(0);
    const document = result.json<LiveDocument>();
    expect(outcomes(document)).to.deep.equal(["probe ok", "submit ok", "files ok"]);
    expect(document).to.deep.include({ ok: true, interrupted: false, addresses: [`${vendor.url}/`] });
    expect(document.purchase).to.include({ billed: "yes", work: null });
    expect(document.tracks.map(({ title }) => title)).to.deep.equal(["Harbour"]);
    const calls = vendor.calls(COMPOSE);
    expect(calls).to.have.length(1);
    expect(calls[0]?.headers["xi-api-key"]).to.equal(API_KEY);
    expect(calls[0]?.json).to.deep.include({ force_instrumental: true, music_length_ms: 3_000 });
    expect([...vendor.unexpected, ...vendor.calls(PLAN)]).to.deep.equal([]);
  });

  it("shows on stderr what it will buy where, asks, and prints the steps for people", async () => {
    sells();
    const keyboard = new PassThrough();
    const call = ask(keyboard);
    await eventually("the question", () => call.stderr.includes("Call the provider and buy it? [y/N]"));
    expect(vendor.requests).to.deep.equal([]);
    expect(call.stderr).to.match(/^provider +ElevenLabs.* http:\/\/127\.0\.0\.1:\d+\/$/m);
    expect(call.stderr).to.match(/^model +elevenlabs\//m);
    expect(call.stderr).to.match(/^generation +one: 3 s, instrumental, "/m);
    expect(call.stderr).to.match(/^expected +.*callers pay \d+ credits for one$/m);
    keyboard.write("y\n");
    expect(await call.ended).to.equal(0);
    expect(call.stdout).to.match(/^probe +ok +\d+ ms +It takes the key/m);
    expect(call.stdout).to.match(/^ {2}mix full +audio\/mpeg +\d+ bytes +3 s$/m);
    expect(call.stdout).to.match(/^One generation of elevenlabs\/\S+ was bought \(attempt att_\w+\)\. Cost: /m);
    expect(call.stdout).to.match(/Nothing is wrong\.\n$/);
    expect(call.stdout + call.stderr).to.not.include(API_KEY);
  });

  it("calls nothing when the operator declines or presses Ctrl-C", async () => {
    sells();
    for (const typed of ["n\n", "\n", "\u0003"]) {
      const keyboard = new PassThrough();
      const call = ask(keyboard);
      await eventually("the question", () => call.stderr.includes("[y/N]"));
      keyboard.write(typed);
      expect(await call.ended).to.equal(1);
      expect([call.stdout, call.stderr.includes("Nothing was called.")]).to.deep.equal(["", true]);
    }
    expect(vendor.requests).to.deep.equal([]);
  });

  it("calls nothing without a terminal and --yes: bad usage", async () => {
    sells();
    const { code, stdout, stderr } = await check();
    expect([code, stdout]).to.deep.equal([2, ""]);
    expect(stderr).to.match(/^error: --live needs --yes where there is no terminal to ask on/);
    expect(vendor.requests).to.deep.equal([]);
  });

  it("stops at a key that is refused: nothing is bought, and the key is not shown", async () => {
    sells();
    vendor.on(SUBSCRIPTION.method, SUBSCRIPTION.path, refusal(401, "invalid_api_key", { message: `bad ${API_KEY}` }));
    const { code, stdout, stderr } = await check("--yes");
    expect(code).to.equal(1);
    expect(stdout).to.match(/^probe +failed +\d+ ms +misconfigured: /);
    expect(stdout).to.match(/^Nothing was bought\.\nIt is not proved\.\n$/m);
    expect(stdout + stderr).to.not.include(API_KEY);
    expect(vendor.calls(COMPOSE)).to.deep.equal([]);
  });

  it("says that nothing was bought when the submission is refused", async () => {
    sells();
    vendor.on(COMPOSE.method, COMPOSE.path, refusal(401, "quota_exceeded"));
    const { code, ...result } = await check("--yes", "--json");
    expect(code).to.equal(1);
    const document = result.json<LiveDocument>();
    expect(outcomes(document)).to.deep.equal(["probe ok", "submit failed"]);
    expect(document.purchase?.billed).to.equal("no");
  });

  it("says that the generation may be billed when the reply is lost, and does not submit again", async () => {
    sells();
    vendor.spoil(COMPOSE, "cut-reply");
    const { code, stdout } = await check("--yes");
    expect(code).to.equal(1);
    expect(stdout).to.match(/^submit +failed +\d+ ms +outcome_unknown: /m);
    expect(stdout).to.match(/^One generation of \S+ may be billed \(attempt att_\w+\)\./m);
    expect(vendor.calls(COMPOSE)).to.have.length(1);
  });

  it("names a setting that is missing, and a model that is not there, as the other commands do", async () => {
    const missing = await sandbox.command(["plugins", "check", "--live", "elevenlabs", "--yes"], dataDir);
    expect(missing.code, missing.stderr).to.equal(2);
    expect(missing.stderr).to.include("plugins.elevenlabs.apiKey: missing");
    const unknown = await check("--model", "elevenlabs/none", "--yes");
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr).to.match(/^There is no model "elevenlabs\/none" of this plugin; allowed: elevenlabs\//);
    expect(vendor.requests).to.deep.equal([]);
  });

  it("takes --model and --yes with --live alone", async () => {
    const { code, stderr } = await sandbox.command(["plugins", "check", ".", "--yes"], dataDir);
    expect([code, stderr.split("\n")[0]]).to.deep.equal([2, "error: --model and --yes need --live"]);
  });

  it("ends as a process of its own, without a data directory", async () => {
    const env = { FERMATA_DATA_DIR: join(dataDir, "none"), FERMATA_PLUGINS__SYNTH__ENABLED: "false" };
    const process = sandbox.spawn(["plugins", "check", "--live", "synth", "--yes", "--json"], dataDir, env);
    expect((await process.exited).code, process.stderr).to.equal(0);
    const document = JSON.parse(process.stdout) as LiveDocument;
    expect(outcomes(document)).to.deep.equal(["submit ok", "files ok"]);
  });
});
