import { dataOf } from "../support/api-client.js";
import type { TestAccount } from "../support/test-app.js";

export interface Event {
  readonly request_id: string;
  readonly endpoint: string;
  readonly method: string;
  readonly status_code: number;
  readonly credits_used: number;
  readonly credits_refunded: number;
  readonly created_at: string;
  readonly count: number;
}

export interface Usage {
  readonly summary: {
    readonly requests: number;
    readonly credits_used: number;
    readonly credits_refunded: number;
    readonly failed_requests: number;
  };
  readonly events: readonly Event[];
}

export const GENERATIONS = "/api/v1/generations";

export const usageOf = async ({ api }: TestAccount, query: Readonly<Record<string, string>> = {}): Promise<Usage> =>
  dataOf<Usage>(await api.get(`/api/v1/usage?${new URLSearchParams(query).toString()}`));

/** Requests, failed ones, credits used and refunded. */
export const figuresOf = ({ summary }: Usage): number[] => [
  summary.requests,
  summary.failed_requests,
  summary.credits_used,
  summary.credits_refunded,
];
