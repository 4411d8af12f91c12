import type { Container } from "inversify";
import type { LinkSigner } from "../../adapters/http/presenters/track.js";
import { presentJob } from "../../adapters/http/presenters/job.js";
import { DeliverWebhooks } from "../../core/webhooks/deliver-webhooks.js";
import { ManageEndpoints } from "../../core/webhooks/manage-endpoints.js";
import { OperateWebhooks } from "../../core/webhooks/operate-webhooks.js";
import { RecordTry } from "../../core/webhooks/record-try.js";
import { SendDelivery } from "../../core/webhooks/send-delivery.js";
import { WriteEvents } from "../../core/webhooks/write-events.js";
import type { Settings } from "../settings.js";
import { TOKENS as T } from "../tokens.js";

/** Longer than the default schedule with all its jitter: 91 hours. */
const EVENT_URL_TTL_MS = 96 * 3_600_000;
/** A breaker first opens for as long as six of the schedule's first waits (30 s by default), and for twenty times that at most. */
const BREAKER_OPEN_WAITS = 6;
const BREAKER_OPEN_GROWTH = 20;

/** Endpoints, events and their deliveries. */
export function bindWebhooks(container: Container): void {
  container.bind(T.writeEvents).toResolvedValue(
    (webhooks, ids, audioUrls) => {
      const links: LinkSigner = {
        sign: (audioKey, options) => audioUrls.sign(audioKey, { ...options, ttlMs: EVENT_URL_TTL_MS }),
      };
      return new WriteEvents(webhooks, ids, (ended) => presentJob(ended, links));
    },
    [T.webhooks, T.ids, T.audioUrls],
  );
  container.bind(T.manageEndpoints).toResolvedValue(
    (unitOfWork, webhooks, guard, secretBox, sealKeys, clock, ids, random, logger, settings) =>
      new ManageEndpoints({
        unitOfWork,
        webhooks,
        guard,
        secretBox,
        sealKeys,
        clock,
        ids,
        random,
        logger,
        allowHttp: settings.webhooks.allowHttp,
      }),
    [
      T.unitOfWork,
      T.webhooks,
      T.addressGuard,
      T.secretBox,
      T.keyStates,
      T.clock,
      T.ids,
      T.random,
      T.logger,
      T.settings,
    ],
  );
  container
    .bind(T.sendDelivery)
    .toResolvedValue(
      (sender, secretBox, clock, { current }) => new SendDelivery(sender, secretBox, clock, current),
      [T.webhookSender, T.secretBox, T.clock, T.metrics],
    );
  container.bind(T.operateWebhooks).toResolvedValue(
    (unitOfWork, audit, webhooks, guard, secretBox, sealKeys, sendDelivery, clock, ids, random) =>
      new OperateWebhooks({
        unitOfWork,
        audit,
        webhooks,
        guard,
        secretBox,
        sealKeys,
        sendDelivery,
        clock,
        ids,
        random,
      }),
    [
      T.unitOfWork,
      T.audit,
      T.webhooks,
      T.addressGuard,
      T.secretBox,
      T.keyStates,
      T.sendDelivery,
      T.clock,
      T.ids,
      T.random,
    ],
  );
  container
    .bind(T.recordTry)
    .toResolvedValue(
      (unitOfWork, webhooks, clock, random, logger, metrics, settings) =>
        new RecordTry({ unitOfWork, webhooks, clock, random, logger, metrics: metrics.current, ...schedule(settings) }),
      [T.unitOfWork, T.webhooks, T.clock, T.random, T.logger, T.metrics, T.settings],
    );
  container.bind(T.deliverWebhooks).toResolvedValue(
    (webhooks, unitOfWork, sendDelivery, recordTry, clock, logger, ids, settings) =>
      new DeliverWebhooks(ids.next("prc"), {
        webhooks,
        unitOfWork,
        sendDelivery,
        recordTry,
        clock,
        logger,
        timeoutMs: settings.webhooks.timeoutSeconds * 1000,
        sweepMs: settings.jobs.sweepMs,
        breaker: schedule(settings).breaker,
      }),
    [T.webhooks, T.unitOfWork, T.sendDelivery, T.recordTry, T.clock, T.logger, T.ids, T.settings],
  );
}

function schedule({ webhooks }: Settings): Pick<ConstructorParameters<typeof RecordTry>[0], "scheduleMs" | "breaker"> {
  const scheduleMs = webhooks.scheduleSeconds.map((seconds) => seconds * 1000);
  const openMs = (scheduleMs[0] ?? 0) * BREAKER_OPEN_WAITS;
  return { scheduleMs, breaker: { openMs, openMaxMs: openMs * BREAKER_OPEN_GROWTH } };
}
