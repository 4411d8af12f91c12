import { Body, Get, Middlewares, Path, Post, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { OperationRefusedError } from "../../../../core/errors.js";
import type { AudioAmount } from "../../../../core/maintenance/collect-audio.js";
import type { HttpDeps } from "../../deps.js";
import { jsonBody } from "../../middleware/json-body.js";
import { contextOf } from "../../request-context.js";
import { type AdminDeps, adminOf } from "../deps.js";
import { moment } from "../presenters.js";
import { dateTime, defined } from "../values.js";

/** A secret key; it is never shown itself. */
export interface AdminSecretKey {
  /** Part of a hash of it. */
  id: string;
  /** `accepted`: signatures of earlier versions, which name no key. `not in force`: rows need it all the same. */
  role: "current" | "previous" | "accepted" | "not in force";
  /**
   * Rows that are sealed with it.
   * @isInt
   */
  sealed_rows: number;
}

export interface AdminSecrets {
  keys: AdminSecretKey[];
  /** @format date-time */
  rotated_at: string | null;
  /** Where the keys come from; those of the settings are rotated there. */
  origin: "settings" | "file";
  /** The file, or the setting. */
  place: string;
}

export interface RetirementRequest {
  /** Also when stored secrets need the old key and cannot be sealed again: they are lost. */
  force?: boolean;
}

/** What a check of the ledger has found. */
export interface AdminLedgerCheck {
  /** False: it was interrupted, as the server stops. */
  complete: boolean;
  /**
   * Rows.
   * @isInt
   */
  checked: number;
  /** The first 1,000. */
  violations: { invariant: string; subject: string; found: string }[];
}

export interface AuditVerificationRequest {
  /** `head` of an earlier verification, which must still be in the chain. */
  head?: string;
}

export interface AdminAuditVerification {
  /**
   * Those that follow each other without a break.
   * @isInt
   */
  records: number;
  /** The hash of the last of them: keep it elsewhere, and give it to the next verification. */
  head: string;
  /** The first thing that is wrong. */
  broken: { number: number; problem: string } | null;
}

export interface CollectionRequest {
  /** Only counts. */
  dry_run?: boolean;
}

export interface AdminAudioAmount {
  /** @isInt */
  files: number;
  /** @isInt */
  bytes: number;
}

/** Files that lost workers and unfinished uploads left behind. */
export interface AdminCollection {
  dry_run: boolean;
  /** Files that were looked at. */
  listed: AdminAudioAmount;
  /** Left behind: no track and no output names them. */
  found: AdminAudioAmount;
  deleted: AdminAudioAmount;
  /** Could not be deleted; the log says why. */
  failed: AdminAudioAmount;
  /** Written within the last hour. */
  left_alone_recent: AdminAudioAmount;
  /** Of no job that this installation knows. */
  left_alone_unknown: AdminAudioAmount;
}

export interface ResendRequest {
  /**
   * Only deliveries that were created at or after this moment, at most 14 days ago.
   * @format date-time
   */
  since: string;
  /** Go on after this one: `last` of the response before. */
  after?: string;
}

/** What sending again has come to. */
export interface AdminResend {
  /** @isInt */
  sent: number;
  /** @isInt */
  delivered: number;
  /** The last that was sent; null: none was. */
  last: string | null;
  /** Whether there may be more: a request sends for 20 seconds. */
  more: boolean;
}

/** A request begins no further delivery after this time. */
const RESEND_MS = 20_000;

@Route("admin/v1")
@Tags("Maintenance")
export class AdminMaintenanceController {
  private readonly admin: AdminDeps;

  constructor(private readonly deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Which secret keys are in force, and how many rows are sealed with each.
   * @summary Show the secret keys
   */
  @Get("secrets")
  @Security("admin", ["read"])
  async getSecrets(): Promise<{ data: AdminSecrets }> {
    const { state, keys, origin, place } = await this.admin.secrets.status();
    const shown = keys.map(({ id, role, sealedRows }) => ({ id, role, sealed_rows: sealedRows }));
    return { data: { keys: shown, rotated_at: moment(state.rotatedAt), origin, place } };
  }

  /**
   * Brings a new secret key into force; the old one is accepted until it is retired. Processes on other machines need
   * the file of keys.
   * @summary Rotate the secret key
   */
  @Post("secrets/rotate")
  @Security("admin", ["owner"])
  async rotateSecrets(): Promise<{ data: { current: string; previous: string | null; rotated_at: string | null } }> {
    const { current, previous, rotatedAt } = await this.admin.secrets.rotate();
    return { data: { current, previous, rotated_at: moment(rotatedAt) } };
  }

  /**
   * Drops the old secret key: links that it signed end at once.
   * @summary Retire the old secret key
   */
  @Post("secrets/retire")
  @Security("admin", ["owner"])
  @Middlewares(jsonBody)
  async retireSecrets(
    @Request() request: express.Request,
    @Body() body: RetirementRequest,
  ): Promise<{ data: { current: string; retired: string[]; lost: string[] } }> {
    const signal = contextOf(request).noRequestWaits();
    const { state, retired, lost } = await this.admin.secrets.retire({ force: body.force === true }, signal);
    return { data: { current: state.current, retired: [...retired], lost: [...lost] } };
  }

  /**
   * Checks every invariant of the ledger, a few rows at a time, while the client waits. The watch of the ledger does
   * the same all the time: `GET /admin/v1/overview` has what it found.
   * @summary Verify the ledger
   */
  @Post("ledger/verify")
  @Security("admin", ["read"])
  async verifyLedger(@Request() request: express.Request): Promise<{ data: AdminLedgerCheck }> {
    const { isComplete, checked, violations } = await this.admin.credits.verifyInSteps(
      contextOf(request).noRequestWaits(),
    );
    return { data: { complete: isComplete, checked, violations: violations.map((one) => ({ ...one })) } };
  }

  /**
   * Follows the chain of hashes of the audit log from its first record to its end.
   * @summary Verify the audit log
   */
  @Post("audit/verify")
  @Security("admin", ["read"])
  @Middlewares(jsonBody)
  async verifyAudit(@Body() body: AuditVerificationRequest): Promise<{ data: AdminAuditVerification }> {
    const { count, head, broken } = await this.admin.audit.verify(body.head);
    return { data: { records: count, head, broken: broken === null ? null : { ...broken } } };
  }

  /**
   * A link that opens the studio for an account without a key, for 12 hours: treat it like a key.
   * @summary Make a link to the studio
   */
  @Post("accounts/{id}/studio-link")
  @Security("admin", ["operate"])
  async makeStudioLink(@Path() id: string): Promise<{ data: { url: string; expires_at: string } }> {
    const link = await this.admin.studioLink((await this.admin.accounts.get(id)).id);
    if (link === null) throw new OperationRefusedError("There is no studio: `studio.enabled` is false.");
    return { data: { url: link.url, expires_at: moment(link.expiresAt) as string } };
  }

  /**
   * Deletes audio files of ended jobs and uploads that nothing names, as workers do every hour.
   * @summary Collect audio files
   */
  @Post("audio/collect")
  @Security("admin", ["operate"])
  @Middlewares(jsonBody)
  async collectAudio(
    @Request() request: express.Request,
    @Body() body: CollectionRequest,
  ): Promise<{ data: AdminCollection }> {
    const signal = contextOf(request).noRequestWaits();
    const report = await this.admin.audio.collect({ isDryRun: body.dry_run === true, signal });
    return {
      data: {
        dry_run: report.isDryRun,
        listed: presentAmount(report.listed),
        found: presentAmount(report.orphaned),
        deleted: presentAmount(report.deleted),
        failed: presentAmount(report.failed),
        left_alone_recent: presentAmount(report.recent),
        left_alone_unknown: presentAmount(report.unknown),
      },
    };
  }

  /**
   * Revokes every API key of every account; they stop working everywhere within a second, for good.
   * @summary Revoke all keys of all accounts
   */
  @Post("keys/revoke-all")
  @Security("admin", ["owner"])
  async revokeAllKeys(): Promise<{ data: { revoked: number } }> {
    return { data: { revoked: await this.admin.accounts.revokeKeys("all") } };
  }

  /**
   * Sends again what an endpoint did not get since a moment, the oldest first, for 20 seconds: go on after `last`
   * while there is more.
   * @summary Resend deliveries
   */
  @Post("webhook-endpoints/{id}/resend")
  @Security("admin", ["operate"])
  @Middlewares(jsonBody)
  async resendDeliveries(
    @Request() request: express.Request,
    @Path() id: string,
    @Body() body: ResendRequest,
  ): Promise<{ data: AdminResend }> {
    const since = dateTime("body.since", body.since);
    const signal = contextOf(request).noRequestWaits();
    const endsAt = this.deps.clock.now() + RESEND_MS;
    let result: AdminResend = { sent: 0, delivered: 0, last: null, more: false };
    const options = { ...defined({ after: body.after }), signal };
    for await (const { sent, delivered, last } of this.admin.webhooks.resendSince(id, since, options)) {
      const more = this.deps.clock.now() >= endsAt;
      result = { sent, delivered, last: last.id, more };
      if (more) break;
    }
    return { data: result };
  }
}

function presentAmount({ files, bytes }: AudioAmount): AdminAudioAmount {
  return { files, bytes };
}
