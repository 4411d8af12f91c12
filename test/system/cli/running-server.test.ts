import { expect } from "chai";
import { compose, loadSettings } from "../../../config/index.js";
import { ApiClient, dataOf, refusalOf } from "../../support/api-client.js";
import { SILENT } from "../../support/databases.js";
import { eventually, Sandbox } from "../../support/process.js";

/** A change holds in every process within a second; a busy machine gets half a second more. */
const CHANGE_MAX_MS = 1_500;

const A_COMPOSITION = { model_id: "synth/instrumental", prompt: "rain on a tin roof", duration: 5 };

describe("A running server", () => {
  const sandbox = new Sandbox();
  let dataDir: string;
  let url: string;
  before(async () => {
    dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    url = await sandbox.call(["serve"], dataDir).listening();
  });
  after(() => sandbox.clear());

  async function aCaller(...options: readonly string[]): Promise<{ account: string; keyId: string; api: ApiClient }> {
    const { id: account } = await sandbox.json<{ id: string }>(
      ["accounts", "create", "alice", "--credits", "100", ...options],
      dataDir,
    );
    const { id: keyId, key } = await sandbox.json<{ id: string; key: string }>(["keys", "issue", account], dataDir);
    return { account, keyId, api: new ApiClient(url, key) };
  }

  it("refuses a key within a second of its revocation by the command line", async () => {
    const { keyId, api } = await aCaller("--tier", "pro", "--accept-terms");
    expect((await api.get("/api/v1/me")).status).to.equal(200);
    await sandbox.json(["keys", "revoke", keyId], dataDir);
    const refusal = await eventually(
      "refused",
      async () => refusalUnlessFine(await api.get("/api/v1/me")),
      CHANGE_MAX_MS,
    );
    expect(refusal).to.equal("401 revoked_api_key");
  });

  it("refuses a suspended account within a second, and lets it in within one of its resumption", async () => {
    const { account, api } = await aCaller("--tier", "pro", "--accept-terms");
    expect((await api.get("/api/v1/me")).status).to.equal(200);
    await sandbox.json(["accounts", "suspend", account], dataDir);
    const ask = async (): Promise<string | null> => refusalUnlessFine(await api.get("/api/v1/me"));
    expect(await eventually("refused", ask, CHANGE_MAX_MS)).to.equal("403 account_suspended");
    await sandbox.json(["accounts", "resume", account], dataDir);
    await eventually("let in", async () => (await api.get("/api/v1/me")).status === 200, CHANGE_MAX_MS);
  });

  it("refuses every key within a second of the revocation of all", async () => {
    const tiers = ["pro", "free"];
    const callers = await Promise.all(tiers.map((tier) => aCaller("--tier", tier, "--accept-terms")));
    for (const { api } of callers) expect((await api.get("/api/v1/me")).status).to.equal(200);
    await sandbox.json(["keys", "revoke", "--all", "--yes"], dataDir);
    for (const { api } of callers) {
      const ask = async (): Promise<string | null> => refusalUnlessFine(await api.get("/api/v1/me"));
      expect(await eventually("refused", ask, CHANGE_MAX_MS)).to.equal("401 revoked_api_key");
    }
  });

  it("lets an account in within a second of its terms being accepted by the command line", async () => {
    const { account, api } = await aCaller("--tier", "pro");
    expect(refusalOf(await api.get("/api/v1/me"))).to.equal("403 api_terms_not_accepted");
    await sandbox.json(["accounts", "accept-terms", account], dataDir);
    await eventually("let in", async () => (await api.get("/api/v1/me")).status === 200, CHANGE_MAX_MS);
  });

  it("gives an account the limits of its new tier within a second of the change in another process", async () => {
    const { account, api } = await aCaller("--tier", "free", "--accept-terms");
    expect((await api.generate(A_COMPOSITION)).status).to.equal(202);
    expect(refusalOf(await api.generate(A_COMPOSITION))).to.equal("409 generation_concurrency_exceeded");
    const settings = loadSettings({ env: {}, cwd: dataDir, isTerminal: false, overrides: { dataDir } });
    const operator = await compose(settings, { logger: SILENT }, { migrate: false });
    await operator.accounts.changeTier(account, "pro");
    await operator.stop();
    await eventually("pro", async () => dataOf(await api.get("/api/v1/me")).account_tier === "pro", CHANGE_MAX_MS);
    expect((await api.generate(A_COMPOSITION)).status).to.equal(202);
  });

  it("spends credits that the command line has just granted", async () => {
    const { account, api } = await aCaller("--tier", "pro", "--accept-terms");
    await sandbox.json(["credits", "grant", account, "50", "--pack"], dataDir);
    expect(dataOf(await api.get("/api/v1/credits"))).to.deep.equal({
      available: 150,
      monthly_credits: 100,
      pack_credits: 50,
      total_spent: 0,
    });
  });
});

function refusalUnlessFine(response: Awaited<ReturnType<ApiClient["get"]>>): string | null {
  return response.status === 200 ? null : refusalOf(response);
}
