import type { RecordsActions } from "../audit/audit-trail.js";
import type { JobEnded } from "../jobs/ended-jobs.js";
import type { AudioUrls } from "../library/audio-urls.js";
import type { CorePorts } from "../ports/core-ports.js";
import { DeliverWebhooks } from "./deliver-webhooks.js";
import { ManageEndpoints } from "./manage-endpoints.js";
import { OperateWebhooks } from "./operate-webhooks.js";
import { RecordDeliveryAttempt } from "./record-delivery-attempt.js";
import type { SealKeys } from "./secrets.js";
import { SendDelivery } from "./send-delivery.js";
import { WriteEvents } from "./write-events.js";

/** Longer than the default schedule with all its jitter: 91 hours. */
const EVENT_URL_TTL_MS = 96 * 3_600_000;
/** A breaker first opens for six of the schedule's first waits (30 s by default), and for twenty times that at most. */
const BREAKER_OPEN_WAITS = 6;
const BREAKER_OPEN_GROWTH = 20;

/** @param links signs links that outlive the schedule of delivery attempts */
export type JobEventBody = (ended: JobEnded, links: Pick<AudioUrls, "sign">) => object;

export interface WebhookOptions {
  readonly allowHttp: boolean;
  readonly timeoutMs: number;
  readonly scheduleMs: readonly number[];
  readonly eventBody: JobEventBody;
}

export interface WebhooksDeps {
  readonly ports: CorePorts;
  readonly options: WebhookOptions;
  readonly audit: RecordsActions;
  readonly sealKeys: SealKeys;
  readonly audioUrls: Pick<AudioUrls, "sign">;
  readonly sweepMs: number;
}

export interface Webhooks {
  /** With the endpoints as their accounts manage them. */
  readonly operate: OperateWebhooks;
  readonly writeEvents: WriteEvents;
  /** Delivers in this process once it is started. */
  readonly createDeliveries: () => DeliverWebhooks;
}

/** Endpoints, events and their deliveries. */
export function createWebhooks({ ports, options, audit, sealKeys, audioUrls, sweepMs }: WebhooksDeps): Webhooks {
  const { webhooks, ids, clock, secretBox, metrics, tracer, webhookSender, addressGuard: guard } = ports;
  const { allowHttp, timeoutMs, scheduleMs, eventBody } = options;
  const openMs = (scheduleMs[0] ?? 0) * BREAKER_OPEN_WAITS;
  const breaker = { openMs, openMaxMs: openMs * BREAKER_OPEN_GROWTH };
  const sendDelivery = new SendDelivery({ sender: webhookSender, secretBox, clock, metrics, tracer });
  const recordAttempt = new RecordDeliveryAttempt({ ...ports, scheduleMs, breaker });
  const links: Pick<AudioUrls, "sign"> = {
    sign: (audioKey, linkOptions) => audioUrls.sign(audioKey, { ...linkOptions, ttlMs: EVENT_URL_TTL_MS }),
  };
  const delivering = { ...ports, sendDelivery, recordAttempt, timeoutMs, sweepMs, breaker };
  const endpoints = new ManageEndpoints({ ...ports, guard, sealKeys, allowHttp });
  return {
    operate: new OperateWebhooks({ ...ports, endpoints, audit, guard, sealKeys, sendDelivery }),
    writeEvents: new WriteEvents({ webhooks, ids, presentJob: (ended) => eventBody(ended, links) }),
    createDeliveries: () => new DeliverWebhooks({ ...delivering, owner: ids.next("prc") }),
  };
}
