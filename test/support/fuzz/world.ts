import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { Agent } from "node:http";
import type { AccountId } from "../../../core/ids.js";
import { type AdminClient, OWNER_TOKEN, startAdminApp } from "../../api/admin/admin-client.js";
import { A_GENERATION, ApiClient, dataOf } from "../api-client.js";
import { SILENCE_WAV, UNHEARD } from "../library-fixture.js";
import { importTrack } from "../library-import.js";
import type { TestAccount, TestApp } from "../test-app.js";
import type { Caller, FuzzRequest } from "./requests.js";
import { type FuzzResponse, sendRaw } from "./send.js";

/** An account with one thing of each kind; `marks` are texts that only its own responses may have. */
interface Inhabitant {
  readonly ids: Readonly<Record<string, string>>;
  readonly key: string;
  readonly limitedKey: string;
  readonly revokedKey: string;
  /** Of an operator who may only read. */
  readonly adminToken: string;
  readonly mark: string;
}

/** So many requests, and what they have deleted or revoked comes back. */
const REQUESTS_PER_ACCOUNT = 20;
const SETTINGS_KEY = randomBytes(32).toString("hex");

/**
 * An app with workers, the admin API and two accounts, of which one sends the requests. What only the other account or
 * the server knows has marks, which are looked for in every response.
 */
export class FuzzWorld {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 4 });
  private own: Inhabitant | null = null;
  private foreign: Inhabitant | null = null;
  private publicTrack = "";
  private sent = 0;

  private constructor(
    readonly test: TestApp,
    private readonly owner: AdminClient,
    private readonly adminUrl: string,
  ) {}

  static async open(): Promise<FuzzWorld> {
    const { test, owner, url } = await startAdminApp({
      ...UNHEARD,
      work: true,
      settings: {
        webhooks: { allowHttp: true, allowNetworks: ["127.0.0.0/8"] },
        rateLimits: { authFailures: { perMinute: 1_000_000 } },
        secrets: { key: SETTINGS_KEY },
      },
    });
    const world = new FuzzWorld(test, owner, url.replace(/\/admin\/v1$/, ""));
    world.publicTrack = await importTrack(test.app, { audio: SILENCE_WAV, ending: "wav" });
    world.foreign = await world.settle();
    return world;
  }

  /** The admin API as its owner sees it. */
  get admin(): ApiClient {
    return new ApiClient(this.adminUrl, OWNER_TOKEN);
  }

  /** Sends a request of the public API, or of the admin API. */
  async send(request: FuzzRequest, surface: "public" | "admin"): Promise<FuzzResponse> {
    if (this.own === null || this.sent % REQUESTS_PER_ACCOUNT === 0) await this.renew();
    this.sent += 1;
    const token = surface === "public" ? this.keyOf(request.caller) : this.tokenOf(request.caller);
    const headers =
      token === null ? request.headers : [["Authorization", `Bearer ${token}`] as const, ...request.headers];
    const filled = {
      ...request,
      path: this.fill(request.path.replaceAll("%40", "@"), encodeURIComponent),
      headers: headers.map(([name, value]) => [name, this.fill(value)] as const),
      body: typeof request.body === "string" ? this.fill(request.body) : request.body,
    };
    return sendRaw(surface === "public" ? this.test.url : this.adminUrl, this.agent, filled);
  }

  /** What is in a response that this caller must not see. */
  leaksIn({ body }: FuzzResponse, caller: Caller, surface: "public" | "admin"): string[] {
    const text = body.toString();
    const foreign = this.foreign as Inhabitant;
    const own = this.own as Inhabitant;
    const secrets = [SETTINGS_KEY, OWNER_TOKEN, foreign.key, foreign.limitedKey, own.key, own.limitedKey];
    const hidden = [...secrets];
    if (surface === "public" && caller !== "foreign") hidden.push(foreign.mark);
    if (surface === "public" && caller === "foreign") hidden.push(own.mark);
    if (surface === "admin" && caller !== "own" && caller !== "limited") hidden.push(foreign.mark, own.mark);
    return hidden
      .filter((mark) => text.includes(mark))
      .map((mark) => `the response has ${mark}: ${text.slice(0, 500)}`);
  }

  /** What the server did not expect since the last call. */
  loggedErrors(): string[] {
    const lines = this.test.logger.lines.splice(0);
    return lines.filter(({ level }) => level === "error").map((line) => `the log has ${JSON.stringify(line)}`);
  }

  /** What has to be true after any requests. */
  async check(): Promise<void> {
    const { app } = this.test;
    expect((await app.credits.verify({ full: true })).violations).to.deep.equal([]);
    expect((await app.audit.verify()).broken).to.equal(null);
    for (const { id } of await app.accounts.list({ limit: 100_000 })) {
      const { monthly, pack } = await app.credits.balance(id);
      expect(Math.min(monthly, pack), `the balance of ${id}`).to.be.at.least(0);
    }
  }

  async close(): Promise<void> {
    this.agent.destroy();
    await this.test.close();
  }

  private async renew(): Promise<void> {
    await this.owner.send("PUT", "/submissions", { state: "active" });
    this.own = await this.settle();
  }

  private async settle(): Promise<Inhabitant> {
    const mark = `mark-${randomBytes(8).toString("hex")}`;
    const account = await this.test.account({ credits: 100_000 });
    const { id } = account.account;
    const limited = await this.test.app.accounts.issueKey(id, { scopes: ["models:read"] });
    const revoked = await this.test.app.accounts.issueKey(id);
    await this.test.app.accounts.revokeKey(revoked.key.id);
    const adminToken = await this.owner.send("POST", "/tokens", { name: mark, role: "read" });
    const { id: tokenId, token } = dataOf<{ id: string; token: string }>(adminToken);
    return {
      ids: { ...(await this.furnish(account, mark)), account: id, key: limited.key.id, token: tokenId },
      key: account.key,
      limitedKey: limited.token,
      revokedKey: revoked.token,
      adminToken: token,
      mark,
    };
  }

  /** One thing of each kind. */
  private async furnish({ api, account }: TestAccount, mark: string): Promise<Record<string, string>> {
    const post = async <T>(path: string, body: unknown): Promise<T> =>
      dataOf<T>(await api.send("POST", path, { headers: { "Content-Type": "application/json" }, body }));
    const endpoint = await post<{ id: string }>("/api/v1/webhook-endpoints", { url: `http://127.0.0.1:9/${mark}` });
    const generation = { ...A_GENERATION, prompt: mark, client: mark, metadata: { mark } };
    const created = dataOf<{ id: string }>(await api.generate(generation, { Prefer: "wait=20" }));
    const { tracks } = dataOf<{ tracks: readonly { id: string }[] }>(
      await api.get(`/api/v1/generations/${created.id}`),
    );
    const track = tracks[0]?.id ?? "";
    const playlist = await post<{ id: string }>("/api/v1/playlists", { title: mark, tracks: [track] });
    return {
      ...{ endpoint: endpoint.id, job: created.id, track, playlist: playlist.id, model: "scripted/song" },
      ...(await this.recordedOf(account.id, api, endpoint.id)),
    };
  }

  /** Ids that the server gives by itself. */
  private async recordedOf(account: AccountId, api: ApiClient, endpoint: string): Promise<Record<string, string>> {
    const { entries } = dataOf<{ entries: readonly { number: number }[] }>(
      await this.owner.get(`/accounts/${account}/ledger?limit=5`),
    );
    const { deliveries } = dataOf<{ deliveries: readonly { id: string }[] }>(
      await this.owner.get(`/webhook-endpoints/${endpoint}/deliveries`),
    );
    const { next_cursor: cursor } = dataOf<{ next_cursor: string | null }>(await api.get("/api/v1/models?limit=1"));
    return {
      entry: String(entries[0]?.number ?? 1),
      delivery: deliveries[0]?.id ?? "none",
      cursor: cursor ?? "none",
    };
  }

  /** Puts ids in the places of their names. */
  private fill(text: string, encode = (id: string) => id): string {
    return text.replaceAll(/@(own|foreign|public)\.(\w+)@/g, (_, owner: string, kind: string) => {
      if (owner === "public") return this.publicTrack;
      return encode((owner === "own" ? this.own : this.foreign)?.ids[kind] ?? "");
    });
  }

  private keyOf(caller: Caller): string | null {
    const { own, foreign } = this;
    const keys = { none: null, wrong: `fm_${"0".repeat(46)}`, revoked: own?.revokedKey, limited: own?.limitedKey };
    if (caller === "own") return own?.key ?? null;
    if (caller === "foreign") return foreign?.key ?? null;
    return keys[caller] ?? null;
  }

  /** For operators an API key is a foreign one. */
  private tokenOf(caller: Caller): string | null {
    const { own } = this;
    if (caller === "own") return OWNER_TOKEN;
    if (caller === "limited") return own?.adminToken ?? null;
    if (caller === "none") return null;
    return caller === "foreign" ? (own?.key ?? null) : `fra_${"0".repeat(46)}`;
  }
}
