import type { IncomingMessage } from "node:http";

/** A file of a multipart form. */
export interface FormFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** A request as it arrived. */
export interface FakeRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** What the `:names` of the route stand for. */
  readonly params: { readonly [name: string]: string };
  readonly query: { readonly [name: string]: string };
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
  /** The body as text. */
  readonly text: string;
  /** The body as JSON; undefined when it is none. Typed by who reads it. */
  readonly json: unknown;
  /** Fields of a multipart or URL-encoded form, in their order; several of one name one after another. */
  readonly fields: readonly { readonly name: string; readonly value: string | FormFile }[];
  /** The one field of this name; undefined without one. */
  field(name: string): string | FormFile | undefined;
}

/** Reads a request whole. */
export async function readRequest(
  incoming: IncomingMessage,
  params: FakeRequest["params"],
  readsBody: boolean,
): Promise<FakeRequest> {
  const url = new URL(incoming.url ?? "/", "http://fake");
  const parts: Buffer[] = [];
  if (readsBody) for await (const part of incoming) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
  const fields = readsBody ? await readForm(body, headers["content-type"] ?? "") : [];
  return {
    method: incoming.method ?? "GET",
    path: url.pathname,
    params,
    query: Object.fromEntries(url.searchParams),
    headers,
    body,
    text: body.toString("utf8"),
    json: parsed(body.toString("utf8")),
    fields,
    field: (name) => fields.find((field) => field.name === name)?.value,
  };
}

async function readForm(body: Buffer, contentType: string): Promise<FakeRequest["fields"]> {
  if (!/^(multipart\/form-data|application\/x-www-form-urlencoded)/i.test(contentType)) return [];
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData();
  const fields = [...form.entries()].map(async ([name, value]) => {
    if (typeof value === "string") return { name, value };
    return {
      name,
      value: { filename: value.name, contentType: value.type, bytes: new Uint8Array(await value.arrayBuffer()) },
    };
  });
  return Promise.all(fields);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
