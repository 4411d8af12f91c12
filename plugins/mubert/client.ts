import { bagOf, ProviderApi, ProviderFailure, providerFailure } from "../../core/ports/music-provider.js";
import type { ApiAnswer, Bag, ProviderHost } from "../../core/ports/music-provider.js";
import { judgePublic, judgeService, TOKEN_EXPIRED } from "./errors.js";
import { timeOf } from "./map.js";

/** A token that is used up within this time is asked for anew. */
const TOKEN_MARGIN_MS = 60_000;

/** Calls with the credentials of one customer. */
interface Customer {
  readonly api: ProviderApi;
  /** null: not told. */
  readonly expiresAt: number | null;
}

/**
 * Mubert's API. The company's credentials, which are settings, find or make a customer; its token, which runs out, is kept in memory, and
 * tracks are made and asked after with it.
 */
export class MubertClient {
  private readonly service: ProviderApi;
  private readonly customers = new Map<string, Customer>();

  constructor(private readonly host: ProviderHost) {
    const { companyId, licenseToken } = host.settings;
    const headers = { "company-id": String(companyId), "license-token": String(licenseToken) };
    this.service = new ProviderApi({ ...this.common(), headers, judge: judgeService });
  }

  /** Starts billed work. @returns the track's id */
  async create(customId: string, json: Bag, signal: AbortSignal): Promise<string> {
    const answer = await this.asCustomer(customId, signal, (api) =>
      api.call({ path: "/api/v3/public/tracks", json, creates: true, signal }),
    );
    const { id } = bagOf(bagOf(answer.json())["data"]);
    if (typeof id !== "string" || id === "") throw providerFailure("outcome_unknown", answer, { message: "It answered no track." });
    return id;
  }

  async track(customId: string, id: string, signal: AbortSignal): Promise<Bag> {
    const path = `/api/v3/public/tracks/${encodeURIComponent(id)}`;
    const answer = await this.asCustomer(customId, signal, (api) => api.call({ path, asksAfter: true, signal }));
    const track = bagOf(bagOf(answer.json())["data"]);
    if (Object.keys(track).length === 0) throw providerFailure("unavailable", answer, { message: "It answered nothing about the track." });
    return track;
  }

  async licenses(signal: AbortSignal): Promise<readonly Bag[]> {
    const answer = await this.service.call({ path: "/api/v3/service/licenses", signal });
    const { data } = bagOf(answer.json());
    if (!Array.isArray(data)) throw providerFailure("unavailable", answer, { message: "It answered no list of licences." });
    return data.map(bagOf);
  }

  private async asCustomer(customId: string, signal: AbortSignal, call: (api: ProviderApi) => Promise<ApiAnswer>): Promise<ApiAnswer> {
    const { api } = await this.customer(customId, signal);
    try {
      return await call(api);
    } catch (error) {
      const isRefused = ProviderFailure.is(error) && (error.kind === "misconfigured" || error.providerCode === TOKEN_EXPIRED);
      if (isRefused) this.customers.delete(customId);
      throw error;
    }
  }

  /** Asking again for the same customer gives the same one, with a new token when the old one has run out. */
  private async customer(customId: string, signal: AbortSignal): Promise<Customer> {
    const known = this.customers.get(customId);
    if (known !== undefined && (known.expiresAt === null || this.host.clock.now() < known.expiresAt - TOKEN_MARGIN_MS)) return known;
    const answer = await this.service.call({ path: "/api/v3/service/customers", json: { custom_id: customId }, signal });
    const { id, access } = bagOf(bagOf(answer.json())["data"]);
    const { token, expired_at: expiresAt } = bagOf(access);
    // The answer is not quoted: it holds the token.
    if (typeof id !== "string" || typeof token !== "string")
      throw providerFailure("unavailable", answer, { message: "It answered no customer with a token." });
    const headers = { "customer-id": id, "access-token": token };
    const customer = { api: new ProviderApi({ ...this.common(), headers, judge: judgePublic }), expiresAt: timeOf(expiresAt) };
    this.customers.set(customId, customer);
    return customer;
  }

  private common(): { readonly fetch: typeof fetch; readonly baseUrl: string; readonly timeoutMs: number } {
    const { settings, fetch } = this.host;
    return { fetch, baseUrl: String(settings["baseUrl"]), timeoutMs: Number(settings["timeoutMs"]) };
  }
}
