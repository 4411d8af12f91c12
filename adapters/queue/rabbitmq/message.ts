import type { Options } from "amqplib";
import { isId } from "../../../core/ids.js";
import type { JobNotification } from "../../../core/ports/job-queue.js";

/** Stored on disk, and returned to the publisher when no queue takes it. */
export const PUBLISH_OPTIONS: Options.Publish = {
  persistent: true,
  mandatory: true,
  contentType: "application/json",
  type: "job-notification",
};

export function encodeNotification({ jobId, providerId }: JobNotification): Buffer {
  return Buffer.from(JSON.stringify({ job_id: jobId, provider_id: providerId }));
}

/** @returns null for any other message */
export function decodeNotification(content: Buffer): JobNotification | null {
  const value = parse(content.toString());
  if (typeof value !== "object" || value === null) return null;
  const { job_id: jobId, provider_id: providerId } = value as Readonly<Record<string, unknown>>;
  if (typeof jobId !== "string" || !isId("job", jobId) || typeof providerId !== "string") return null;
  return { jobId, providerId };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
