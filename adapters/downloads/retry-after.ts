/** `Retry-After` in milliseconds (RFC 9110, section 10.2.3); undefined without one, or without a date to count from. */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const [at, from] = [Date.parse(value), Date.parse(headers.get("date") ?? "")];
  return Number.isFinite(at) && Number.isFinite(from) ? Math.max(0, at - from) : undefined;
}
