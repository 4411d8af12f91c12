import {
  InvalidRequestError,
  WebhookEndpointNotFoundError,
  WebhookHostBlockedError,
  WebhookUrlInvalidError,
} from "../errors.js";
import { type AccountId, isId, type WebhookEndpointId } from "../ids.js";
import { ListCursors, newestFirst } from "../lists/cursors.js";
import { firstOf, isBehind, type PageRequest } from "../lists/pages.js";
import type { AddressGuard } from "../ports/address-guard.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { ListPage, ListPosition } from "../ports/list-page.js";
import type { Logger } from "../ports/logger.js";
import type { Random } from "../ports/random.js";
import type { SecretBox } from "../ports/secret-box.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import { disabled, enabled, type EndpointStatus, type WebhookEndpoint, HEALTHY } from "../ports/webhook-records.js";
import { makeSecret, type SealKeys, shownPrefixOf } from "./secrets.js";
import { type ShownEndpoint, shownEndpoint } from "./shown-endpoint.js";
import { normaliseWebhookUrl, requestKeyOf } from "./url-rules.js";

/** Endpoints of an account, disabled ones included; as many are on a page. */
export const ENDPOINTS_MAX = 20;
/** A name that takes longer to look up is accepted unseen; every delivery looks again. */
const LOOKUP_MAX_MS = 2_000;

export interface ManageEndpointsDeps {
  readonly unitOfWork: UnitOfWork;
  readonly webhooks: WebhookStore;
  readonly guard: AddressGuard;
  readonly secretBox: SecretBox;
  readonly sealKeys: SealKeys;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly random: Random;
  readonly digest: Pick<Digest, "sha256">;
  readonly logger: Logger;
  /** Whether plain http is taken too. */
  readonly allowHttp: boolean;
}

/** An endpoint at its creation: the only moment its secret is known. */
export interface NewEndpoint {
  readonly endpoint: ShownEndpoint;
  readonly secret: string;
}

/** What an account does with its webhook endpoints. @see API v1, sections 3 and 4; decisions, "Webhooks" */
export class ManageEndpoints {
  private readonly cursors: ListCursors<ListPosition<WebhookEndpointId>>;

  constructor(private readonly deps: ManageEndpointsDeps) {
    this.cursors = new ListCursors(deps.digest, "webhook-endpoints", newestFirst("whe"));
  }

  /** Newest first. */
  async list(accountId: AccountId, status: EndpointStatus | "all" = "active"): Promise<ShownEndpoint[]> {
    const all = await this.deps.webhooks.listEndpoints(accountId);
    return all.filter((endpoint) => status === "all" || endpoint.status === status).map(shownEndpoint);
  }

  /**
   * A page of them; all where no limit is given.
   *
   * @throws {InvalidRequestError} the cursor is none of this list and status
   */
  async page(
    accountId: AccountId,
    status: EndpointStatus | "all" = "active",
    { limit = ENDPOINTS_MAX, cursor }: PageRequest = {},
  ): Promise<ListPage<ShownEndpoint, string>> {
    const scope = { accountId, filters: { status } };
    const after = this.cursors.read(cursor, scope);
    const behind = (await this.list(accountId, status)).filter((endpoint) => isBehind(endpoint, after));
    const { items, next } = firstOf(behind, limit);
    return { items, next: this.cursors.write(next, scope) };
  }

  /**
   * @throws the four errors of {@link normaliseWebhookUrl}
   * @throws {WebhookUrlInvalidError} another endpoint of the account, which the message names, has this URL
   * @throws {InvalidRequestError} the account has as many endpoints as it may
   */
  async create(accountId: AccountId, url: string): Promise<NewEndpoint> {
    const { deps } = this;
    const href = await this.checkUrl(url);
    const id = deps.ids.next("whe");
    const secret = makeSecret((count) => deps.random.bytes(count));
    const now = deps.clock.now();
    const endpoint: WebhookEndpoint = {
      id,
      accountId,
      url: href,
      status: "active",
      secretPrefix: shownPrefixOf(secret),
      sealedSecret: deps.secretBox.seal(secret, id),
      retiredSecrets: [],
      createdAt: now,
      updatedAt: now,
      disabledAt: null,
      disabledBy: null,
      health: HEALTHY,
    };
    await deps.unitOfWork.inTransaction(async (tx) => {
      const existing = await deps.webhooks.lockEndpoints(tx, accountId);
      // The reply to a commit may be lost; the second run then finds what the first has written.
      if (existing.some((other) => other.id === id)) return;
      if (existing.length >= ENDPOINTS_MAX) {
        throw new InvalidRequestError([
          { path: "body.url", message: `would be one more than the ${ENDPOINTS_MAX} endpoints an account may have` },
        ]);
      }
      await deps.sealKeys.requireInForce(tx, deps.secretBox.keyIdOf(endpoint.sealedSecret));
      checkIsFree(href, existing);
      await deps.webhooks.insertEndpoint(tx, endpoint);
    });
    return { endpoint: shownEndpoint(endpoint), secret };
  }

  /**
   * A new URL and re-activation begin with a clean record of failures. Disabling drops what waits for the endpoint.
   *
   * @throws {WebhookEndpointNotFoundError} unknown, or another account's; and the four errors of {@link
   *   normaliseWebhookUrl}
   * @throws {WebhookUrlInvalidError} the URL changes to that of another endpoint of the account, which the message
   * names
   */
  async update(
    accountId: AccountId,
    id: string,
    changes: { readonly url?: string; readonly status?: EndpointStatus },
  ): Promise<ShownEndpoint> {
    const { webhooks, clock } = this.deps;
    // An endpoint of another account is not found, with any URL.
    await this.find(accountId, id);
    const url = changes.url === undefined ? undefined : await this.checkUrl(changes.url);
    const saved = await this.change(accountId, id, async (tx, endpoint, others) => {
      // Endpoints of before URLs were unique keep theirs.
      if (url !== undefined && url !== endpoint.url) checkIsFree(url, others);
      let changed = url === undefined || url === endpoint.url ? endpoint : { ...endpoint, url, health: HEALTHY };
      if (changes.status === "active" && endpoint.status !== "active") changed = enabled(changed);
      if (changes.status === "disabled" && endpoint.status !== "disabled") {
        const now = clock.now();
        await webhooks.dropPending(tx, endpoint.id, now);
        changed = disabled(changed, "user", now);
      }
      return changed;
    });
    return shownEndpoint(saved);
  }

  /** @throws {WebhookEndpointNotFoundError} unknown, or another account's */
  async remove(accountId: AccountId, id: string): Promise<WebhookEndpointId> {
    const { unitOfWork, webhooks, clock } = this.deps;
    const { id: known } = await this.find(accountId, id);
    await unitOfWork.inTransaction(async (tx) => {
      if ((await webhooks.lockEndpoint(tx, known)) === null) return;
      await webhooks.dropPending(tx, known, clock.now());
      await webhooks.deleteEndpoint(tx, known);
    });
    return known;
  }

  private async change(
    accountId: AccountId,
    id: string,
    rule: (tx: Transaction, endpoint: WebhookEndpoint, others: readonly WebhookEndpoint[]) => Promise<WebhookEndpoint>,
  ): Promise<WebhookEndpoint> {
    const { unitOfWork, webhooks, clock } = this.deps;
    return unitOfWork.inTransaction(async (tx) => {
      // All of the account: one that is being added may have the URL that this one is to get.
      const all = await webhooks.lockEndpoints(tx, accountId);
      const endpoint = all.find((one) => one.id === id);
      if (endpoint === undefined) throw new WebhookEndpointNotFoundError();
      const changed = await rule(
        tx,
        endpoint,
        all.filter((one) => one !== endpoint),
      );
      if (changed === endpoint) return endpoint;
      const saved = { ...changed, updatedAt: clock.now() };
      await webhooks.saveEndpoint(tx, saved);
      return saved;
    });
  }

  private async find(accountId: AccountId, id: string): Promise<WebhookEndpoint> {
    const endpoint = isId("whe", id) ? (await this.deps.webhooks.findEndpoints([id])).get(id) : undefined;
    if (endpoint === undefined || endpoint.accountId !== accountId) throw new WebhookEndpointNotFoundError();
    return endpoint;
  }

  /** @returns the normalised form */
  private async checkUrl(text: string): Promise<string> {
    const { guard, allowHttp, logger } = this.deps;
    const url = normaliseWebhookUrl(text, { guard, allowHttp });
    const found = await guard.resolve(url.hostname, LOOKUP_MAX_MS);
    if (found.state === "blocked") throw new WebhookHostBlockedError();
    if (found.state === "unresolved") {
      logger.warn("The host of a webhook URL does not resolve; it was accepted", {
        host: url.hostname,
        reason: found.reason,
      });
    }
    return url.href;
  }
}

/** @throws {WebhookUrlInvalidError} one of these, disabled ones included, has the URL */
function checkIsFree(url: string, endpoints: readonly WebhookEndpoint[]): void {
  const key = requestKeyOf(url);
  const other = endpoints.find((endpoint) => requestKeyOf(endpoint.url) === key);
  if (other !== undefined) throw new WebhookUrlInvalidError(other.id);
}
