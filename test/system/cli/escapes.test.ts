import { expect } from "chai";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compose, loadSettings } from "../../../config/index.js";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { SILENT } from "../../support/databases.js";
import { eventually, Sandbox } from "../../support/process.js";

const HOSTILE = "\u001b]0;owned\u0007\u009b31m\u202etitle\u200b";
/** Every control and format character there is, but line breaks. */
const STEERING = /(?!\n)[\p{Cc}\p{Cf}]/u;

describe("Texts of callers on the command line", () => {
  const sandbox = new Sandbox();
  let dataDir: string;
  let account: string;
  let job: string;
  before(async () => {
    dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const options = ["--tier", "pro", "--accept-terms", "--credits", "100"];
    account = (await sandbox.json<{ id: string }>(["accounts", "create", `al${HOSTILE}ice`, ...options], dataDir)).id;
    const { key } = await sandbox.json<{ key: string }>(["keys", "issue", account, "--name", HOSTILE], dataDir);
    const server = sandbox.call(["start"], dataDir, { FERMATA_LOGS__FORMAT: "pretty" });
    const api = new ApiClient(await server.listening(), key);
    const body = { model_id: "synth/instrumental", prompt: `rain ${HOSTILE}`, duration: 5 };
    job = dataOf<{ id: string }>(await api.generate(body)).id;
    await eventually("a finished job", async () => {
      return dataOf<{ status: string }>(await api.get(`/api/v1/jobs/${job}`)).status === "completed";
    });
    const track = { ref: "a", account, visibility: "private", title: `rain \u202e\u200b`, artist_label: "n\u2066ight" };
    const document = { tracks: [{ ...track, prompt: `rain ${HOSTILE}` }] };
    await writeFile(join(dataDir, "import.json"), JSON.stringify(document));
    await sandbox.json(["library", "import", join(dataDir, "import.json")], dataDir);
  });
  after(() => sandbox.clear());

  for (const [what, args] of [
    ["jobs show", (): string[] => ["jobs", "show", job]],
    ["jobs list", (): string[] => ["jobs", "list"]],
    ["library search", (): string[] => ["library", "search", "rain", "--account", account]],
    ["a refusal", (): string[] => ["accounts", "create", "bob", "--tier", HOSTILE]],
  ] as const) {
    it(`do not steer the terminal in ${what}, nor as JSON`, async () => {
      for (const more of [[], ["--json"]]) {
        const { stdout, stderr } = await sandbox.command([...args(), ...more], dataDir);
        expect(stdout + stderr).to.not.match(STEERING);
        expect(stdout + stderr).to.not.equal("");
      }
    });
  }

  it("are stored without control characters in titles and names, and as they were given in prompts", async () => {
    const { tracks } = await sandbox.json<{ tracks: readonly { title: string; artist_label: string }[] }>(
      ["library", "search", "rain", "--account", account],
      dataDir,
    );
    expect(tracks.length).to.be.at.least(1);
    for (const { title, artist_label } of tracks) expect(title + artist_label).to.not.match(STEERING);
    const names = await Promise.all(
      [
        ["accounts", "show", account],
        ["keys", "list", account],
      ].map((args) => sandbox.command([...args, "--json"], dataDir)),
    );
    for (const { stdout } of names)
      expect(stdout)
        .to.match(/title/)
        .and.not.match(/\\u[0-9a-f]{4}/);
    const settings = loadSettings({ env: {}, cwd: dataDir, isTerminal: false, overrides: { dataDir } });
    const app = await compose(settings, { logger: SILENT }, { migrate: false });
    const report = await app.jobs.show(job);
    await app.stop();
    expect(report.job.request.prompt).to.equal(`rain ${HOSTILE}`);
  });
});
