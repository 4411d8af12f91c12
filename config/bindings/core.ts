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
import { Backlog } from "../../core/providers/backlog.js";
import { ProviderAvailability } from "../../core/providers/provider-availability.js";
import { RenderTimes } from "../../core/providers/render-times.js";
import { ApplyReports } from "../../core/execution/apply-reports.js";
import { EndJobs } from "../../core/execution/end-jobs.js";
import { Policies, type PolicySettings } from "../../core/execution/policies.js";
import { RunJob } from "../../core/execution/run-job.js";
import { StoreFiles } from "../../core/execution/store-files.js";
import { SubmissionSwitch } from "../../core/execution/submission-switch.js";
import { SettleJobs } from "../../core/jobs/settle-jobs.js";
import { StoreTracks } from "../../core/execution/store-tracks.js";
import { AudioUrls } from "../../core/library/audio-urls.js";
import { ListModels } from "../../core/providers/list-models.js";
import { Limits } from "../../core/rate-limits/limits.js";
import type { Settings } from "../settings.js";
import { TOKENS as T } from "../tokens.js";

/** Accounts, credits and who may ask how often. */
export function bindAccounts(container: Container): void {
  container
    .bind(T.authenticate)
    .toResolvedValue(
      (accounts, digest, clock) => new Authenticate(accounts, digest, clock),
      [T.accounts, T.digest, T.clock],
    );
  container
    .bind(T.manageAccounts)
    .toResolvedValue(
      (audit, accounts, ledger, clock, ids, random, digest, tiers) =>
        new ManageAccounts({ audit, accounts, ledger, clock, ids, random, digest, tiers }),
      [T.audit, T.accounts, T.ledger, T.clock, T.ids, T.random, T.digest, T.tiers],
    );
  container
    .bind(T.manageCredits)
    .toResolvedValue(
      (audit, accounts, ledger, clock, tiers) => new ManageCredits({ audit, accounts, ledger, clock, tiers }),
      [T.audit, T.accounts, T.ledger, T.clock, T.tiers],
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
  container.bind(T.availability).toResolvedValue(
    (health, unitOfWork, clock, { breaker }) =>
      new ProviderAvailability(health, unitOfWork, clock, {
        failures: breaker.failures,
        openMs: breaker.openSeconds * 1000,
      }),
    [T.health, T.unitOfWork, T.clock, T.settings],
  );
  container
    .bind(T.renderTimes)
    .toResolvedValue(
      (jobs, catalogue, clock) => new RenderTimes({ jobs, catalogue, clock }),
      [T.jobs, T.catalogue, T.clock],
    );
  container
    .bind(T.backlog)
    .toResolvedValue(
      (jobs, catalogue, renderTimes, clock, settings) =>
        new Backlog({
          jobs,
          catalogue,
          renderTimes,
          clock,
          queueDeadlineMs: settings.jobs.queueDeadlineMinutes * 60_000,
        }),
      [T.jobs, T.catalogue, T.renderTimes, T.clock, T.settings],
    );
  container
    .bind(T.listModels)
    .toResolvedValue(
      (catalogue, routes, availability) => new ListModels(catalogue, routes, availability),
      [T.catalogue, T.routes, T.availability],
    );
  container.bind(T.acceptGeneration).toResolvedValue(
    (acceptJobs, catalogue, library, routes, availability, backlog, tiers, clock, ids, digest, { idempotency }) =>
      new AcceptGeneration({
        acceptJobs,
        catalogue,
        library,
        routes,
        availability,
        backlog,
        tiers,
        clock,
        ids,
        digest,
        idempotencyTtlMs: idempotency.ttlHours * 3_600_000,
      }),
    [
      T.acceptJobs,
      T.catalogue,
      T.library,
      T.routes,
      T.availability,
      T.backlog,
      T.tiers,
      T.clock,
      T.ids,
      T.digest,
      T.settings,
    ],
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
  container.bind(T.audioUrls).toResolvedValue(
    (digest, clock, keyring, library, publicUrl, { audio }) =>
      new AudioUrls({
        digest,
        clock,
        keyring,
        library,
        publicUrl: () => publicUrl.current,
        ttlMs: audio.urlTtlHours * 3_600_000,
      }),
    [T.digest, T.clock, T.keyring, T.library, T.publicUrl, T.settings],
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
      (ledger, jobs, library, writeEvents, events) => new SettleJobs({ ledger, jobs, library, writeEvents, events }),
      [T.ledger, T.jobs, T.library, T.writeEvents, T.jobEvents],
    );
  container
    .bind(T.applyReports)
    .toResolvedValue(
      (jobs, callbacks, unitOfWork, settleJobs, queue, clock, { current: metrics }) =>
        new ApplyReports({ jobs, callbacks, unitOfWork, settleJobs, queue, clock, metrics }),
      [T.jobs, T.callbacks, T.unitOfWork, T.settleJobs, T.queue, T.clock, T.metrics],
    );
  container
    .bind(T.policies)
    .toResolvedValue(
      (settings, catalogue, random) => new Policies(policySettings(settings), catalogue, random),
      [T.settings, T.catalogue, T.random],
    );
  container
    .bind(T.endJobs)
    .toResolvedValue(
      (applyReports, policies, clock, ids) => new EndJobs({ applyReports, policies, clock, ids }),
      [T.applyReports, T.policies, T.clock, T.ids],
    );
  container
    .bind(T.storeTracks)
    .toResolvedValue(
      (audio, clock, ids, storeAsset, derived) => new StoreTracks(audio, clock, ids, storeAsset, derived),
      [T.audio, T.clock, T.ids, T.storeAsset, T.deriveAssets],
    );
  container
    .bind(T.storeFiles)
    .toResolvedValue(
      (storeTracks, clock, random, logger) => new StoreFiles({ storeTracks, clock, random, logger }),
      [T.storeTracks, T.clock, T.random, T.logger],
    );
  container.bind(T.runJob).toResolvedValue(
    (
      jobs,
      callbacks,
      applyReports,
      storeFiles,
      buildRequest,
      routes,
      availability,
      clock,
      ids,
      random,
      logger,
      policies,
      renderTimes,
    ) =>
      new RunJob({
        jobs,
        callbacks,
        applyReports,
        storeFiles,
        buildRequest,
        routes,
        availability,
        clock,
        ids,
        random,
        logger,
        policies,
        renderTimes,
      }),
    [
      T.jobs,
      T.callbacks,
      T.applyReports,
      T.storeFiles,
      T.buildRequest,
      T.routes,
      T.availability,
      T.clock,
      T.ids,
      T.random,
      T.logger,
      T.policies,
      T.renderTimes,
    ],
  );
  container
    .bind(T.submissions)
    .toResolvedValue(
      (installation, audit, clock, logger, { jobs }) =>
        new SubmissionSwitch({ installation, audit, clock, logger, startsAs: jobs.submissions }),
      [T.installation, T.audit, T.clock, T.logger, T.settings],
    );
  container
    .bind(T.operateJobs)
    .toResolvedValue(
      (jobs, library, endJobs, audit) => new OperateJobs(jobs, library, endJobs, audit),
      [T.jobs, T.library, T.endJobs, T.audit],
    );
}

function policySettings({ jobs }: Settings): PolicySettings {
  return {
    retry: { maxAttempts: jobs.maxAttempts, backoffMs: jobs.backoffMs },
    queueDeadlineMs: jobs.queueDeadlineMinutes * 60_000,
    renderDeadlineMs: jobs.renderDeadlineMinutes * 60_000,
    unknownGraceMs: jobs.unknownGraceSeconds * 1000,
    confirmMs: jobs.confirmSeconds * 1000,
  };
}
