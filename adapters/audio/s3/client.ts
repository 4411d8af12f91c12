import type { Agent as HttpAgent } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import { S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { S3Place } from "./s3-url.js";

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Milliseconds. */
export interface S3Timeouts {
  readonly connectMs: number;
  /** From a request, with the part that it stores, to the headers of its response. */
  readonly responseMs: number;
  /** Between two chunks, while a read is pending. */
  readonly idleMs: number;
}

export const S3_TIMEOUTS: S3Timeouts = { connectMs: 5_000, responseMs: 60_000, idleMs: 30_000 };

/** The first attempt, and the SDK's retries of temporary failures, with its own waits in between. */
const ATTEMPTS_MAX = 3;

/** A file that is streamed through this process takes one connection until its client has it. */
const CONNECTIONS_MAX = 512;

/** Opens connections for the SDK: the guarded ones, which config has. */
export type S3Agents = (options: {
  readonly keepAlive: boolean;
  readonly maxSockets: number;
  readonly connectMs: number;
}) => { readonly httpAgent: HttpAgent; readonly httpsAgent: HttpsAgent };

/** @param credentials null: the SDK looks for them in the environment, the profile, the machine's role */
export function clientFor(
  { region, endpoint, pathStyle }: S3Place,
  credentials: S3Credentials | null,
  { connectMs, responseMs: answerMs }: S3Timeouts,
  agents: S3Agents,
): S3Client {
  return new S3Client({
    ...(region === null ? {} : { region }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(credentials === null ? {} : { credentials }),
    forcePathStyle: pathStyle,
    maxAttempts: ATTEMPTS_MAX,
    // A player that pauses keeps its connection open: readers have a limit of their own.
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: answerMs,
      throwOnRequestTimeout: true,
      socketTimeout: 0,
      ...agents({ keepAlive: true, maxSockets: CONNECTIONS_MAX, connectMs }),
    },
    // Checksums of the newer kinds are unknown to many servers that speak S3 otherwise; TLS and the signature guard
    // what is sent.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}

/** True when an object is not there; false for a missing bucket, where the response says so. */
export function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && (error.name === "NoSuchKey" || error.name === "NotFound");
}

/** The server's or network's name of the error, which holds no key; the SDK's error contains the whole response. */
export function reasonOf(error: unknown): string {
  if (error instanceof S3ServiceException) return `${error.name} (${error.$metadata.httpStatusCode ?? "no status"})`;
  const { code, name, message } = error as NodeJS.ErrnoException;
  return code ?? (name === "Error" ? message : `${name}: ${message}`);
}

/** Everything else may pass, or waits for an operator. */
export function unavailable(bucket: string, error: unknown): ServiceUnavailableError {
  return new ServiceUnavailableError(undefined, undefined, {
    cause: new Error(`The bucket ${bucket} cannot be used: ${reasonOf(error)}.`),
  });
}
