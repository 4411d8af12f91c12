import type { Container } from "inversify";
import { Authenticate } from "../../core/accounts/authenticate.js";
import { ManageAccounts } from "../../core/accounts/manage-accounts.js";
import { ManageCredits } from "../../core/credits/manage-credits.js";
import { AcceptGeneration } from "../../core/generations/accept-generation.js";
import { ReadGenerations } from "../../core/generations/read-generations.js";
import { WaitForJob } from "../../core/generations/wait-for-job.js";
import { RecordAnswer } from "../../core/idempotency/record-answer.js";
import { AcceptJobs } from "../../core/jobs/accept-jobs.js";
import { JobEvents } from "../../core/jobs/job-events.js";
import { OperateJobs } from "../../core/jobs/operate-jobs.js";
import { ProviderAvailability } from "../../core/providers/provider-availability.js";
import { RunJob } from "../../core/execution/run-job.js";
import { SettleJobs } from "../../core/jobs/settle-jobs.js";
import { StoreTracks } from "../../core/execution/store-tracks.js";
import { AudioUrls } from "../../core/library/audio-urls.js";
import { ListModels } from "../../core/providers/list-models.js";
import { Limits } from "../../core/rate-limits/limits.js";
import { TOKENS as T } from "../tokens.js";

/** Accounts, credits and who may ask how often. */
export function bindAccounts(container: Container): void {
  container
    .bind(T.authenticate)
    .toResolvedValue((accounts, digest, clock) => new Authenticate(accounts, digest, clock), [T.accounts, T.digest, T.clock]);
  container
    .bind(T.manageAccounts)
    .toResolvedValue(
      (unitOfWork, accounts, ledger, clock, ids, random, digest, tiers) =>
        new ManageAccounts({ unitOfWork, accounts, ledger, clock, ids, random, digest, tiers }),
      [T.unitOfWork, T.accounts, T.ledger, T.clock, T.ids, T.random, T.digest, T.tiers],
    );
  container
    .bind(T.manageCredits)
    .toResolvedValue(
      (unitOfWork, accounts, ledger, clock, tiers) => new ManageCredits({ unitOfWork, accounts, ledger, clock, tiers }),
      [T.unitOfWork, T.accounts, T.ledger, T.clock, T.tiers],
    );
  container
    .bind(T.limits)
    .toResolvedValue(
      (limiter, tiers, settings) => new Limits(limiter, tiers, settings.rateLimits.authFailures.perMinute),
      [T.rateLimiter, T.tiers, T.settings],
    );
}

/** Models and generations, as callers see them. */
export function bindGenerations(container: Container): void {
  container
    .bind(T.availability)
    .toResolvedValue(
      (health, unitOfWork, clock, { breaker }) =>
        new ProviderAvailability(health, unitOfWork, clock, {
          failures: breaker.failures,
          openMs: breaker.openSeconds * 1000,
        }),
      [T.health, T.unitOfWork, T.clock, T.settings],
    );
  container
    .bind(T.listModels)
    .toResolvedValue((catalogue, routes, availability) => new ListModels(catalogue, routes, availability), [T.catalogue, T.routes, T.availability]);
  container
    .bind(T.acceptGeneration)
    .toResolvedValue(
      (acceptJobs, catalogue, routes, availability, tiers, clock, ids, digest, { idempotency }) =>
        new AcceptGeneration({
          acceptJobs,
          catalogue,
          routes,
          availability,
          tiers,
          clock,
          ids,
          digest,
          idempotencyTtlMs: idempotency.ttlHours * 3_600_000,
        }),
      [T.acceptJobs, T.catalogue, T.routes, T.availability, T.tiers, T.clock, T.ids, T.digest, T.settings],
    );
  container
    .bind(T.readGenerations)
    .toResolvedValue((jobs, library) => new ReadGenerations(jobs, library), [T.jobs, T.library]);
  container
    .bind(T.waitForJob)
    .toResolvedValue((jobs, events, clock) => new WaitForJob(jobs, events, clock), [T.jobs, T.jobEvents, T.clock]);
  container
    .bind(T.recordAnswer)
    .toResolvedValue(
      (unitOfWork, idempotency, digest) => new RecordAnswer(unitOfWork, idempotency, digest),
      [T.unitOfWork, T.idempotency, T.digest],
    );
  container
    .bind(T.audioUrls)
    .toResolvedValue(
      (digest, clock, secret, publicUrl, { audio }) =>
        new AudioUrls(digest, clock, secret, () => publicUrl.current, audio.urlTtlHours * 3_600_000),
      [T.digest, T.clock, T.secretKey, T.publicUrl, T.settings],
    );
}

/** How jobs begin, run and end. */
export function bindJobs(container: Container): void {
  container.bind(T.jobEvents).toResolvedValue((logger) => new JobEvents(logger), [T.logger]);
  container
    .bind(T.acceptJobs)
    .toResolvedValue(
      (unitOfWork, idempotency, ledger, jobs, queue, clock) =>
        new AcceptJobs({ unitOfWork, idempotency, ledger, jobs, queue, clock }),
      [T.unitOfWork, T.idempotency, T.ledger, T.jobs, T.queue, T.clock],
    );
  container
    .bind(T.settleJobs)
    .toResolvedValue(
      (unitOfWork, ledger, jobs, library, clock, writeEvents, events) =>
        new SettleJobs({ unitOfWork, ledger, jobs, library, clock, writeEvents, events }),
      [T.unitOfWork, T.ledger, T.jobs, T.library, T.clock, T.writeEvents, T.jobEvents],
    );
  container
    .bind(T.storeTracks)
    .toResolvedValue(
      (audio, clock, ids, storeAsset, derived) => new StoreTracks(audio, clock, ids, storeAsset, derived),
      [T.audio, T.clock, T.ids, T.storeAsset, T.deriveAssets],
    );
  container
    .bind(T.runJob)
    .toResolvedValue(
      (jobs, callbacks, unitOfWork, settleJobs, storeTracks, buildRequest, routes, queue, availability, clock, ids, random, logger, settings) =>
        new RunJob({
          jobs,
          callbacks,
          unitOfWork,
          settleJobs,
          storeTracks,
          buildRequest,
          routes,
          queue,
          availability,
          clock,
          ids,
          random,
          logger,
          retry: { maxAttempts: settings.jobs.maxAttempts, backoffMs: settings.jobs.backoffMs },
          unknownGraceMs: settings.jobs.unknownGraceSeconds * 1000,
        }),
      [
        T.jobs,
        T.callbacks,
        T.unitOfWork,
        T.settleJobs,
        T.storeTracks,
        T.buildRequest,
        T.routes,
        T.queue,
        T.availability,
        T.clock,
        T.ids,
        T.random,
        T.logger,
        T.settings,
      ],
    );
  container
    .bind(T.operateJobs)
    .toResolvedValue(
      (jobs, library, settleJobs, startSplit) => new OperateJobs(jobs, library, settleJobs, startSplit),
      [T.jobs, T.library, T.settleJobs, T.startSplit],
    );
}
