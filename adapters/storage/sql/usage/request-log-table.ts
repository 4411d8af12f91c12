import type { ErrorCode } from "../../../../core/error-codes.js";
import type { AccountId, JobId, RequestId } from "../../../../core/ids.js";
import type { LoggedRequest } from "../../../../core/ports/request-log.js";
import { type Column, named, plain, type RowOf, table } from "../table.js";

/** null: 1, as of most rows. */
const COUNT: Column<number, number | null> = {
  name: null,
  toSql: (count) => (count === 1 ? null : count),
  fromSql: (stored) => stored ?? 1,
};

export const REQUEST_LOG = table(
  "request_log",
  {
    id: plain<RequestId>(),
    accountId: plain<AccountId>(),
    createdAt: plain<number>(),
    method: plain<string>(),
    path: plain<string>(),
    route: plain<string>(),
    status: plain<number>(),
    errorCode: plain<ErrorCode | null>(),
    requestBytes: plain<number | null>(),
    responseBytes: plain<number | null>(),
    jobId: plain<JobId | null>(),
    client: plain<string | null>(),
    count: named("request_count", COUNT),
    /** When the row was created; null unless it stands for several requests. */
    mergedAt: plain<number | null>(),
    /** 1 once the table of counts holds it; null only in rows from before there was one. */
    isCounted: plain<1 | null>(),
  },
  ["id"],
);
export type RequestRow = RowOf<typeof REQUEST_LOG>;

/** Named one by one: a spread and a loop over columns take several µs of every request. */
export function toRequestRow(request: LoggedRequest): RequestRow {
  const isMerged = request.count !== 1;
  return {
    id: request.id,
    account_id: request.accountId,
    created_at: request.createdAt,
    method: request.method,
    path: request.path,
    route: request.route,
    status: request.status,
    error_code: request.errorCode,
    request_bytes: request.requestBytes,
    response_bytes: request.responseBytes,
    job_id: request.jobId,
    client: request.client,
    request_count: isMerged ? request.count : null,
    merged_at: isMerged ? request.createdAt : null,
    is_counted: 1,
  };
}

export function toLoggedRequest(row: RequestRow): LoggedRequest {
  const { mergedAt: _mergedAt, isCounted: _isCounted, ...request } = REQUEST_LOG.fromRow(row);
  return request;
}
