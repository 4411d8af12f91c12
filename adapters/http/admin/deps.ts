import type { ExportAccount } from "../../../core/accounts/export-account.js";
import type { ManageAccounts } from "../../../core/accounts/manage-accounts.js";
import type { AdminTokens } from "../../../core/admin/admin-tokens.js";
import { assert } from "../../../core/assert.js";
import type { ReportMargin } from "../../../core/attempts/report-margin.js";
import type { ReadAudit } from "../../../core/audit/read-audit.js";
import type { ManageCredits } from "../../../core/credits/manage-credits.js";
import type { SubmissionSwitch } from "../../../core/execution/submission-switch.js";
import type { ReadOverview } from "../../../core/figures/read-overview.js";
import type { OperateGenerations } from "../../../core/generations/operate-generations.js";
import type { RetryJobs } from "../../../core/generations/retry-jobs.js";
import type { StartSplit } from "../../../core/generations/start-split.js";
import type { OperateJobs } from "../../../core/jobs/operate-jobs.js";
import type { Library } from "../../../core/library/create-library.js";
import type { OperateAudio } from "../../../core/maintenance/operate-audio.js";
import type { CheckResult } from "../../../core/ports/self-check.js";
import type { ReportProviders } from "../../../core/providers/report-providers.js";
import type { RotateSecrets } from "../../../core/secrets/rotate-secrets.js";
import type { OperateWebhooks } from "../../../core/webhooks/operate-webhooks.js";
import type { Sessions } from "../sessions/sessions.js";
import type { ActingOperator } from "./acting.js";

/** What the session of an operator at the console holds. */
export interface ConsoleSession {
  readonly token: string;
}

/** A setting with its value and where it comes from. */
export interface SettingInForce {
  readonly path: string;
  /** As JSON; a secret is masked. */
  readonly value: unknown;
  readonly origin: "default" | "file" | "environment" | "app";
  /** The file or the variable; null for a default. */
  readonly source: string | null;
}

/** The use cases behind the admin API: those of the command line. */
export interface AdminDeps {
  readonly tokens: AdminTokens;
  readonly accounts: ManageAccounts;
  readonly exports: ExportAccount;
  readonly credits: ManageCredits;
  readonly jobs: OperateJobs;
  readonly retryJobs: RetryJobs;
  readonly generations: OperateGenerations;
  readonly splits: StartSplit;
  readonly library: Pick<Library, "read" | "manage" | "importer" | "operateUploads">;
  readonly submissions: SubmissionSwitch;
  readonly providers: ReportProviders;
  readonly overview: ReadOverview;
  readonly margin: ReportMargin;
  readonly webhooks: OperateWebhooks;
  readonly audit: ReadAudit;
  readonly secrets: RotateSecrets;
  readonly audio: Pick<OperateAudio, "collect">;
  readonly acting: ActingOperator;
  readonly sessions: Sessions<ConsoleSession>;
  /** Whether the console is served. */
  readonly hasConsole: boolean;
  /** A link that opens the studio for an account without a key; null where there is no studio. */
  studioLink(accountId: string): Promise<{ readonly url: string; readonly expiresAt: number } | null>;
  /** The settings in force, secrets masked, as `fermata config print` shows them. */
  settings(): Promise<readonly SettingInForce[]>;
  /** What `fermata doctor` finds. */
  doctor(): Promise<readonly CheckResult[]>;
}

export function adminOf({ admin }: { readonly admin?: AdminDeps }): AdminDeps {
  assert(admin !== undefined, "the admin API is served with what is behind it");
  return admin;
}
