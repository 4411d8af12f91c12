import type { LoggedRequest } from "../../../core/ports/request-log.js";
import { timestamp } from "./time.js";

/** A request as the log keeps it, without its query and its body. */
export interface LogEntry {
  /** The request's id. */
  id: string;
  method: string;
  path: string;
  /**
   * 499 when the caller disconnected before the response.
   * @isInt
   */
  status_code: number;
  error_code: string | null;
  /**
   * Bytes of the body.
   * @isInt
   */
  request_bytes: number | null;
  /**
   * Bytes of the body.
   * @isInt
   */
  response_bytes: number | null;
  /** The job that the request created, replayed or read. */
  job_id: string | null;
  /**
   * When it arrived; the first of them.
   * @format date-time
   */
  created_at: string;
  /**
   * How many requests the entry stands for: beyond 20 refused ones (429) of a kind of limit in a minute, one entry
   * counts the rest.
   * @isInt
   */
  count: number;
}

export function presentLogEntry(request: LoggedRequest): LogEntry {
  return {
    id: request.id,
    method: request.method,
    path: request.path,
    status_code: request.status,
    error_code: request.errorCode,
    request_bytes: request.requestBytes,
    response_bytes: request.responseBytes,
    job_id: request.jobId,
    created_at: timestamp(request.createdAt),
    count: request.count,
  };
}
