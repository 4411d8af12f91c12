import { type CheckResult, ok, warning } from "../../../core/ports/self-check.js";
import type { Broker } from "./broker-url.js";
import { vhostOf } from "./doctor-topology.js";
import { NOTIFICATIONS_MAX, DELIVERY_LIMIT } from "./topology.js";

const RESPONSE_MAX_MS = 2_000;

/**
 * Of a number in a policy and in our arguments the broker takes the smaller one. Of other values and of what only one
 * has, the policy's.
 */
const HARMFUL: Readonly<Record<string, { readonly when: (value: unknown) => boolean; readonly so: string }>> = {
  "delivery-limit": { when: isBelow(DELIVERY_LIMIT), so: "notifications become dead letters sooner" },
  "max-length": { when: isBelow(NOTIFICATIONS_MAX), so: "notifications are refused sooner" },
  "max-length-bytes": { when: isBelow(Infinity), so: "notifications are refused sooner" },
  "message-ttl": { when: isBelow(Infinity), so: "waiting notifications become dead letters" },
  expires: { when: isBelow(Infinity), so: "the queue is deleted when no worker listens" },
  overflow: { when: (value) => value !== "reject-publish", so: "what a full queue drops fills the dead letters" },
};

interface QueueReport {
  readonly policy?: string | null;
  readonly operator_policy?: string | null;
  readonly effective_policy_definition?: Readonly<Record<string, unknown>> | null;
}

export interface PolicyCheckOptions {
  readonly broker: Broker;
  readonly queues: readonly string[];
  /** Where the management API listens. */
  readonly url?: string;
  /** For the management API: the guarded one, which config has. */
  readonly fetch: typeof fetch;
}

/**
 * Policies change queues behind their arguments. AMQP does not show them; the management API does, where it is on, some
 * seconds after they were set.
 */
export async function checkPolicies({
  broker,
  queues,
  url = managementUrlOf(broker),
  fetch,
}: PolicyCheckOptions): Promise<CheckResult> {
  const name = "rabbitmq policies";
  const found: string[] = [];
  const fixes = new Set<string>();
  try {
    for (const queue of queues) {
      const report = await ask(fetch, url, broker, queue);
      const harm = harmOf(report.effective_policy_definition ?? {});
      if (harm.length === 0) continue;
      found.push(`${queue}: ${harm.join(", ")}`);
      if (report.policy) fixes.add(`\`rabbitmqctl clear_policy -p ${vhostOf(broker)} ${report.policy}\``);
      if (report.operator_policy)
        fixes.add(`\`rabbitmqctl clear_operator_policy -p ${vhostOf(broker)} ${report.operator_policy}\``);
    }
  } catch (error) {
    const reason = broker.mask((error as Error).message);
    const command = `\`rabbitmqctl list_queues -p ${vhostOf(broker)} name effective_policy_definition\``;
    return ok(
      name,
      `They could not be seen, as the management API at ${url} does not help: ${reason}. ${command} shows them.`,
    );
  }
  if (found.length === 0) return ok(name, "No policy changes our queues for the worse.");
  return warning(
    name,
    `A policy overrides what Fermata asks for. ${found.join("; ")}.`,
    `${[...fixes].join(", ")}, or narrow its pattern.`,
  );
}

/** What a policy does to our queues that is for the worse, in words. */
export function harmOf(policy: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(policy).flatMap(([key, value]) => {
    const harmful = HARMFUL[key];
    return harmful?.when(value) ? [`${key} ${String(value)} (${harmful.so})`] : [];
  });
}

/** A negative number means no limit. */
function isBelow(ours: number): (value: unknown) => boolean {
  return (value) => typeof value === "number" && value >= 0 && value < ours;
}

async function ask(
  fetch: PolicyCheckOptions["fetch"],
  url: string,
  { address }: Broker,
  queue: string,
): Promise<QueueReport> {
  const path = `/api/queues/${address.vhost || "%2F"}/${encodeURIComponent(queue)}`;
  const credentials = Buffer.from(`${address.username}:${address.password}`).toString("base64");
  const response = await fetch(new URL(path, url), {
    headers: { authorization: `Basic ${credentials}` },
    redirect: "error",
    signal: AbortSignal.timeout(RESPONSE_MAX_MS),
  }).catch((error: Error) => {
    throw error.cause instanceof Error ? error.cause : error;
  });
  if (!response.ok) throw new Error(`it answers ${response.status}`);
  return (await response.json()) as QueueReport;
}

/** No further than the broker's own host: that is where the credentials went already. */
function managementUrlOf({ address }: Broker): string {
  const host = address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname;
  return address.protocol === "amqps" ? `https://${host}:15671` : `http://${host}:15672`;
}
