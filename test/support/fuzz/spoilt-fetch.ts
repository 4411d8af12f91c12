import fc from "fast-check";
import { aChange, type Change, changed, oddText } from "./values.js";

/** What becomes of one response of a provider's API on its way. */
export type Spoiling = (response: Response, body: Buffer) => Response | Promise<Response>;

/** A response that is spoilt, counted from the first call of a plugin. */
export interface SpoiltCall {
  readonly call: number;
  readonly spoil: Spoiling;
}

/** A plugin that calls for ever would hang its test. */
const CALLS_MAX = 300;

/** Real requests, whose responses are changed. */
export function spoiltFetch(spoilt: readonly SpoiltCall[]): typeof fetch {
  let calls = 0;
  return async (input, init) => {
    const call = calls;
    calls += 1;
    if (calls > CALLS_MAX) throw new Error(`The plugin made more than ${CALLS_MAX} calls.`);
    const response = await fetch(input, init);
    const found = spoilt.find((each) => each.call === call);
    return found === undefined ? response : found.spoil(response, Buffer.from(await response.arrayBuffer()));
  };
}

const MIB = 1024 * 1024;
const NO_BODY = [204, 205, 304];

function respond(
  response: Response,
  body: ConstructorParameters<typeof Response>[0],
  { status = response.status, headers = {} } = {},
): Response {
  const all = new Headers(response.headers);
  all.delete("content-length");
  for (const [name, value] of Object.entries<string>(headers)) all.set(name, value);
  return new Response(NO_BODY.includes(status) ? null : body, { status, headers: all });
}

function withJson(changes: readonly Change[]): Spoiling {
  return (response, body) => {
    const given = parsed(body);
    if (given === undefined) return respond(response, new Uint8Array(body));
    return respond(response, JSON.stringify(changed(given, changes)) ?? "");
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

const withBytes: fc.Arbitrary<Spoiling> = fc.oneof(
  fc.nat(400).map(
    (at): Spoiling =>
      (response, body) =>
        respond(response, new Uint8Array(body.subarray(0, at))),
  ),
  fc.tuple(fc.nat(2_000), fc.nat(255)).map(([at, value]): Spoiling => (response, body) => {
    if (body.length > 0) body[at % body.length] = value;
    return respond(response, new Uint8Array(body));
  }),
  fc.constantFrom<Spoiling>(
    (response, body) => respond(response, new Uint8Array(Buffer.from(body.toString(), "utf16le"))),
    (response, body) => respond(response, `\ufeff${body.toString()}`),
    (response, body) => respond(response, `${body.toString()}${body.toString()}`),
    (response, body) => respond(response, `[${body.toString()}]`),
    (response, body) => respond(response, `{"data":${body.toString()}}`),
    (response, body) => respond(response, body.toString().replace(/"[^"]*"/, `"${"x".repeat(3 * MIB)}"`)),
    (response) => respond(response, `${"[".repeat(100_000)}`),
    (response) =>
      respond(response, "<html><body>502 Bad Gateway</body></html>", { headers: { "content-type": "text/html" } }),
    (response) => respond(response, ""),
    (response, body) => respond(response, broken(body)),
    () => Promise.reject(new TypeError("fetch failed", { cause: new Error("ECONNRESET") })),
  ),
);

/** A body whose connection breaks in its middle. */
function broken(body: Buffer): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(body.subarray(0, body.length / 2)));
      controller.error(new TypeError("terminated"));
    },
  });
}

const withHead: fc.Arbitrary<Spoiling> = fc.oneof(
  fc
    .constantFrom(
      200,
      201,
      202,
      204,
      301,
      304,
      400,
      401,
      402,
      403,
      404,
      409,
      410,
      418,
      422,
      429,
      451,
      500,
      502,
      503,
      529,
    )
    .map(
      (status): Spoiling =>
        (response, body) =>
          respond(response, new Uint8Array(body), { status }),
    ),
  fc
    .tuple(
      fc.constantFrom("content-type", "retry-after", "location", "x-request-id", "content-disposition"),
      fc.oneof(oddText, fc.constantFrom("-1", "1e9", "99999999999", "audio/mpeg", "application/json; charset=latin1")),
    )
    .map(([name, value]): Spoiling => (response, body) => {
      const text = value.replaceAll(/[^\t\x20-\x7e]/g, "");
      return respond(response, new Uint8Array(body), { headers: { [name]: text } });
    }),
);

/** Mostly changes of the JSON; they show up as such in a report. */
const aSpoiling: fc.Arbitrary<Spoiling> = fc.oneof(
  { weight: 6, arbitrary: fc.array(aChange, { minLength: 1, maxLength: 3 }).map((changes) => named(changes)) },
  { weight: 2, arbitrary: withBytes },
  { weight: 2, arbitrary: withHead },
);

function named(changes: readonly Change[]): Spoiling {
  return Object.assign(withJson(changes), { [fc.toStringMethod]: () => `JSON ${fc.stringify(changes)}` });
}

export const spoiltCalls: fc.Arbitrary<SpoiltCall[]> = fc.array(fc.record({ call: fc.nat(5), spoil: aSpoiling }), {
  minLength: 1,
  maxLength: 2,
});
