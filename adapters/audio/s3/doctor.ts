import { randomUUID } from "node:crypto";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { failed, type CheckResult, ok, warning } from "../../../core/ports/self-check.js";
import { clientFor, reasonOf, S3_TIMEOUTS, type S3Agents, type S3Credentials, type S3Timeouts } from "./client.js";
import { readS3Url, type S3Place } from "./s3-url.js";

export interface BucketCheckOptions {
  /** As in `audio.url`. */
  readonly url: string;
  /** @throws {Error} they are incomplete */
  readonly credentials: () => S3Credentials | null;
  /** Whether players are sent on to the bucket. */
  readonly givesLinks: boolean;
  readonly timeouts?: Partial<S3Timeouts>;
  readonly agents: S3Agents;
}

const NAME = "audio bucket";
const LINKS = "audio links";

/**
 * Whether the bucket is there, and its objects can be written, read, listed and deleted. What is written for that is
 * deleted again.
 */
export async function checkBucket({
  url,
  credentials,
  givesLinks,
  timeouts,
  agents,
}: BucketCheckOptions): Promise<readonly CheckResult[]> {
  let place: S3Place;
  let client: S3Client;
  try {
    place = readS3Url(url);
    client = clientFor(place, credentials(), { ...S3_TIMEOUTS, ...timeouts }, agents);
  } catch (error) {
    return [failed(NAME, (error as Error).message, "Correct audio.url, audio.accessKeyId and audio.secretAccessKey.")];
  }
  try {
    return [await checkAccess(client, place), ...(givesLinks ? [classifyLinks(place)] : [])];
  } finally {
    client.destroy();
  }
}

async function checkAccess(client: S3Client, { bucket, prefix, endpoint }: S3Place): Promise<CheckResult> {
  const Key = `${prefix === "" ? "" : `${prefix}/`}.doctor-${randomUUID()}`;
  const object = { Bucket: bucket, Key };
  const steps: readonly (readonly [what: string, action: string, () => Promise<unknown>])[] = [
    ["be reached", "s3:ListBucket", () => client.send(new HeadBucketCommand({ Bucket: bucket }))],
    [
      "be written to",
      "s3:PutObject",
      () => client.send(new PutObjectCommand({ ...object, Body: Buffer.from("written") })),
    ],
    [
      "be read from",
      "s3:GetObject",
      async () => (await client.send(new GetObjectCommand(object))).Body?.transformToByteArray(),
    ],
    ["be listed", "s3:ListBucket", () => client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: Key }))],
    ["have objects deleted", "s3:DeleteObject", () => client.send(new DeleteObjectCommand(object))],
  ];
  for (const [what, action, step] of steps) {
    try {
      await step();
    } catch (error) {
      const message = `The bucket ${bucket} at ${endpoint ?? "AWS"} cannot ${what}: ${reasonOf(error)}.`;
      return failed(
        NAME,
        message,
        `Check audio.url and the credentials (audio.accessKeyId, or the AWS environment); they need ${action} there.`,
      );
    }
  }
  return ok(NAME, `The bucket ${bucket} at ${endpoint ?? "AWS"} can be written, read, listed and cleared.`);
}

/** Browsers cannot play a link that an https page may not load, or that is unreachable from outside. */
function classifyLinks({ endpoint }: S3Place): CheckResult {
  if (endpoint === null || endpoint.startsWith("https:"))
    return ok(LINKS, `Players are sent on to ${endpoint ?? "AWS"}, which callers have to reach.`);
  const message = `Players are sent on to ${endpoint}: pages of https do not play what comes over plain http.`;
  return warning(LINKS, message, "Give the endpoint by https in audio.url, or set audio.redirect to false.");
}
