import { asObject, ProviderFailure, providerFailure } from "../sdk/index.js";
import type { ApiResponse, JsonObject, ProviderApi } from "../sdk/index.js";
import { classifyPublic, classifyService, TOKEN_EXPIRED } from "./errors.js";
import { timeOf } from "./map.js";
import type { Host } from "./settings.js";

/** A token that expires within this time is requested again. */
const TOKEN_MARGIN_MS = 60_000;

/** Calls with the credentials of one customer. */
interface Customer {
  readonly api: ProviderApi;
  /** null: not reported. */
  readonly expiresAt: number | null;
}

/**
 * Mubert's API. The company's credentials, which are settings, find or create a customer; its token, which expires, is
 * kept in memory. Tracks are created and polled with it.
 */
export class MubertClient {
  private readonly service: ProviderApi;
  private readonly customers = new Map<string, Customer>();

  constructor(private readonly host: Host) {
    const { companyId, licenseToken } = host.settings;
    const headers = { "company-id": companyId, "license-token": licenseToken };
    this.service = host.api({ headers, classify: classifyService });
  }

  /** Starts billed work. @returns the track's id */
  async create(customId: string, json: JsonObject, signal: AbortSignal): Promise<string> {
    const response = await this.asCustomer(customId, signal, (api) =>
      api.call({ path: "/api/v3/public/tracks", json, creates: true, signal }),
    );
    const { id } = asObject(asObject(response.json())["data"]);
    if (typeof id !== "string" || id === "")
      throw providerFailure("outcome_unknown", response, { message: "The response has no track." });
    return id;
  }

  async track(customId: string, id: string, signal: AbortSignal): Promise<JsonObject> {
    const path = `/api/v3/public/tracks/${encodeURIComponent(id)}`;
    const response = await this.asCustomer(customId, signal, (api) => api.call({ path, isStatusCall: true, signal }));
    const track = asObject(asObject(response.json())["data"]);
    if (Object.keys(track).length === 0)
      throw providerFailure("unavailable", response, { message: "The response says nothing about the track." });
    return track;
  }

  async licenses(signal: AbortSignal): Promise<readonly JsonObject[]> {
    const response = await this.service.call({ path: "/api/v3/service/licenses", signal });
    const { data } = asObject(response.json());
    if (!Array.isArray(data))
      throw providerFailure("unavailable", response, { message: "The response has no list of licences." });
    return data.map(asObject);
  }

  private async asCustomer(
    customId: string,
    signal: AbortSignal,
    call: (api: ProviderApi) => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    const { api } = await this.customer(customId, signal);
    try {
      return await call(api);
    } catch (error) {
      const isRefused =
        ProviderFailure.is(error) && (error.kind === "misconfigured" || error.providerCode === TOKEN_EXPIRED);
      if (isRefused) this.customers.delete(customId);
      throw error;
    }
  }

  /** A repeated request for a customer returns the same one, with a new token when the old one has expired. */
  private async customer(customId: string, signal: AbortSignal): Promise<Customer> {
    const known = this.customers.get(customId);
    if (known !== undefined && (known.expiresAt === null || this.host.clock.now() < known.expiresAt - TOKEN_MARGIN_MS))
      return known;
    const response = await this.service.call({
      path: "/api/v3/service/customers",
      json: { custom_id: customId },
      signal,
    });
    const { id, access } = asObject(asObject(response.json())["data"]);
    const { token, expired_at: expiresAt } = asObject(access);
    // The response is not quoted: it contains the token.
    if (typeof id !== "string" || typeof token !== "string")
      throw providerFailure("unavailable", response, { message: "The response has no customer with a token." });
    const headers = { "customer-id": id, "access-token": token };
    const customer = { api: this.host.api({ headers, classify: classifyPublic }), expiresAt: timeOf(expiresAt) };
    this.customers.set(customId, customer);
    return customer;
  }
}
