import type { KeyId } from "../ports/keyring.js";
import type { Logger } from "../ports/logger.js";
import type { SecretBox } from "../ports/secret-box.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import type { Clock } from "../ports/clock.js";
import type { WebhookEndpointId } from "../ids.js";
import type { WebhookEndpoint } from "../ports/webhook-records.js";
import type { KeyStates } from "./key-states.js";

export interface ResealDeps {
  readonly unitOfWork: UnitOfWork;
  readonly webhooks: WebhookStore;
  readonly secretBox: SecretBox;
  readonly states: KeyStates;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What a pass over everything that is sealed found. */
export interface ResealPass {
  /** How many rows were sealed with the current key again. */
  readonly resealed: number;
  /** Rows that cannot be opened, and so keep their key. */
  readonly failed: readonly WebhookEndpointId[];
}

const PAGE = 100;

/**
 * Seals again with the current key all values that another key sealed. It goes from row to row, one transaction each,
 * and can be stopped and repeated at any point, also by several processes at once: each row carries the id of its key.
 */
export class ResealSecrets {
  constructor(private readonly deps: ResealDeps) {}

  /** Ends early once `signal` aborts. */
  async execute(current: KeyId, signal: AbortSignal): Promise<ResealPass> {
    const failed: WebhookEndpointId[] = [];
    let resealed = 0;
    for await (const endpoint of this.endpoints()) {
      if (signal.aborted) break;
      if (this.keysOf(endpoint).every((id) => id === current)) continue;
      const result = await this.reseal(endpoint.id, current);
      if (result === "failed") failed.push(endpoint.id);
      if (result === "resealed") resealed += 1;
    }
    return { resealed, failed };
  }

  /** How many rows are sealed with each key. Of one row with several keys each counts. */
  async count(): Promise<Map<KeyId, WebhookEndpointId[]>> {
    const rows = new Map<KeyId, WebhookEndpointId[]>();
    for await (const endpoint of this.endpoints()) {
      for (const id of new Set(this.keysOf(endpoint))) rows.set(id, [...(rows.get(id) ?? []), endpoint.id]);
    }
    return rows;
  }

  private async *endpoints(): AsyncGenerator<WebhookEndpoint> {
    let page: WebhookEndpoint[];
    let after: WebhookEndpointId | null = null;
    do {
      page = await this.deps.webhooks.listAllEndpoints(after, PAGE);
      yield* page;
      after = page.at(-1)?.id ?? null;
    } while (page.length === PAGE);
  }

  private keysOf({ sealedSecret, retiredSecrets }: WebhookEndpoint): KeyId[] {
    return [sealedSecret, ...retiredSecrets.map(({ sealed }) => sealed)].map((sealed) =>
      this.deps.secretBox.keyIdOf(sealed),
    );
  }

  private async reseal(id: WebhookEndpointId, current: KeyId): Promise<"resealed" | "failed" | "unchanged"> {
    const { unitOfWork, webhooks, secretBox, states } = this.deps;
    return unitOfWork.inTransaction(async (tx) => {
      const endpoint = await webhooks.lockEndpoint(tx, id);
      if (endpoint === null) return "unchanged";
      const sealed = await this.sealAgain(endpoint);
      if (sealed === null) return "failed";
      // This process may not have the current key.
      if (secretBox.keyIdOf(sealed.sealedSecret) !== current) return "unchanged";
      await states.requireInForce(tx, current);
      await webhooks.saveEndpoint(tx, sealed);
      return "resealed";
    });
  }

  /** The endpoint without expired secrets; null when it cannot be opened. */
  private async sealAgain(endpoint: WebhookEndpoint): Promise<WebhookEndpoint | null> {
    const { secretBox, clock, logger } = this.deps;
    const { id, retiredSecrets } = endpoint;
    const again = async (sealed: string): Promise<string> => secretBox.seal(await secretBox.open(sealed, id), id);
    const now = clock.now();
    try {
      const stillSigning = retiredSecrets.filter(({ signsUntil }) => now < signsUntil);
      return {
        ...endpoint,
        sealedSecret: await again(endpoint.sealedSecret),
        retiredSecrets: await Promise.all(
          stillSigning.map(async (one) => ({ ...one, sealed: await again(one.sealed) })),
        ),
      };
    } catch (error) {
      logger.error("A webhook endpoint's secret cannot be sealed again", { error, endpoint: id });
      return null;
    }
  }
}
