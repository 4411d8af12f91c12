/** Milliseconds. How long a connection may take is the connector's business. */
export interface DownloadLimits {
  readonly firstByteMs: number;
  /** Between two chunks. */
  readonly idleMs: number;
  /** For all of it, with what had to be asked for again. */
  readonly totalMs: number;
  /** Before a broken download goes on; it grows with each further time. */
  readonly resumeMs: number;
}

export const DOWNLOAD_LIMITS: DownloadLimits = {
  firstByteMs: 60_000,
  idleMs: 30_000,
  totalMs: 1_800_000,
  resumeMs: 500,
};
