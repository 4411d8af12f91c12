import { GuardedConnector, guardedAgents, GuardedFetch, OperatorAddressGuard } from "../adapters/network/index.js";
import type { S3Agents } from "../adapters/audio/s3/client.js";

/** The way out to places that the operator wrote into the settings: the bucket, the broker's management API. */
const connector = (): GuardedConnector => new GuardedConnector({ guard: new OperatorAddressGuard() });

export const operatorAgents: S3Agents = (options) => guardedAgents(connector(), options);

/** Lends a `fetch` for the time of the work. */
export async function withOperatorFetch<T>(work: (operatorFetch: typeof fetch) => Promise<T>): Promise<T> {
  const toOperator = connector();
  const guarded = new GuardedFetch({
    refusal: () => null,
    connectorFor: () => toOperator,
    refused: (words, cause) => new Error(words, { cause }),
  });
  try {
    return await work(guarded.fetch);
  } finally {
    await guarded.close();
  }
}
