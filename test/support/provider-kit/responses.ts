/** The response of a scripted route. */
export interface FakeResponse {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Uint8Array | string;
  /** Sent chunk by chunk, without a length. */
  readonly chunks?: readonly (Uint8Array | string)[];
  /** The response waits for this event, which a test controls. */
  readonly after?: Promise<unknown>;
  readonly fault?: Fault;
}

/**
 * What goes wrong on the way.
 * `cut-request`: the connection ends when the request's head has come, its body unread.
 * `cut-reply`: the request is taken in whole, then the connection ends without a response.
 * `cut-body`: the head and half of the body are sent, then the connection ends.
 * `hang`: no response until the client disconnects.
 */
export type Fault = "cut-request" | "cut-reply" | "cut-body" | "hang";

type Head = Pick<FakeResponse, "status" | "headers">;

/**
 * A JSON document.
 *
 * @example
 * const fake = await FakeApi.open();
 * fake.on("POST", "/v1/tasks", json({ error: "no credit" }, { status: 402 }));
 */
export function json(body: unknown, { status = 200, headers = {} }: Head = {}): FakeResponse {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

/**
 * A file.
 *
 * @example
 * const fake = await FakeApi.open();
 * fake.on("GET", "/song.mp3", bytes(tinyMp3(), "audio/mpeg"));
 */
export function bytes(
  body: Uint8Array,
  contentType = "application/octet-stream",
  { status = 200, headers = {} }: Head = {},
): FakeResponse {
  return { status, headers: { "content-type": contentType, ...headers }, body };
}

/**
 * Plain text.
 *
 * @example
 * const fake = await FakeApi.open();
 * fake.on("GET", "/health", text("ok"));
 */
export function text(body: string, { status = 200, headers = {} }: Head = {}): FakeResponse {
  return { status, headers: { "content-type": "text/plain", ...headers }, body };
}

/** A part of a multipart body. */
export interface MultipartPart {
  readonly headers: { readonly [name: string]: string };
  readonly bytes: Uint8Array | string;
}

/**
 * A `multipart/mixed` body (RFC 2046), its lines ended by CRLF or, as some servers have it, by LF.
 *
 * @example
 * const body = multipart([{ headers: { "content-type": "audio/mpeg" }, bytes: tinyMp3() }], "boundary");
 * const fake = await FakeApi.open();
 * fake.on("POST", "/v1/music", bytes(body, "multipart/mixed; boundary=boundary"));
 */
export function multipart(parts: readonly MultipartPart[], boundary: string, lineEnd: "\r\n" | "\n" = "\r\n"): Buffer {
  const chunks = parts.flatMap(({ headers, bytes: content }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return [[`--${boundary}`, ...lines, "", ""].join(lineEnd), content, lineEnd];
  });
  return Buffer.concat([...chunks, `--${boundary}--${lineEnd}`].map((chunk) => Buffer.from(chunk)));
}

/**
 * A page of a gateway or a maintenance notice, where JSON was due.
 *
 * @example
 * const fake = await FakeApi.open();
 * fake.on("POST", "/v1/tasks", htmlPage(503));
 */
export function htmlPage(status = 502): FakeResponse {
  return {
    status,
    headers: { "content-type": "text/html" },
    body: `<!doctype html><html><body><h1>${status} Bad gateway</h1></body></html>`,
  };
}

/**
 * A body that is sent chunk by chunk, without a length.
 *
 * @example
 * const fake = await FakeApi.open();
 * fake.on("POST", "/v1/stream", chunks(["one", "two"], "text/plain"));
 */
export function chunks(parts: readonly (Uint8Array | string)[], contentType: string, status = 200): FakeResponse {
  return { status, headers: { "content-type": contentType }, chunks: parts };
}

/**
 * No response: the connection is cut, or hangs.
 *
 * @example
 * const fake = await FakeApi.open();
 * fake.once("POST", "/v1/tasks", fault("cut-reply"));
 */
export function fault(kind: Exclude<Fault, "cut-body">): FakeResponse {
  return { fault: kind };
}
