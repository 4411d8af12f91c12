import { addressOf, type CodeRequest } from "../../parts/code.js";
import { remember } from "./request.js";

/** What came of a request. */
export interface Sent {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  /** As it came, JSON indented; of a stream what has come so far. */
  readonly text: string;
  /** Until the response was whole, in milliseconds; of a stream until its head came. */
  readonly ms: number;
  readonly isWhole: boolean;
}

/**
 * Sends a request to this server.
 *
 * @param form the form's members with their files, where the body is a form
 * @param onProgress hears of a stream's text as it arrives
 * @throws {Error} no response came
 */
export async function send(
  request: CodeRequest,
  apiKey: string,
  form: Readonly<Record<string, string | File>>,
  signal: AbortSignal,
  onProgress: (sent: Sent) => void,
): Promise<Sent> {
  const { method, headers, body } = request;
  const startedAt = performance.now();
  const isJson = body !== undefined && "json" in body;
  const response = await fetch(addressOf(request), {
    method,
    headers: {
      ...(apiKey === "" ? {} : { Authorization: `Bearer ${apiKey}` }),
      ...(isJson ? { "Content-Type": "application/json" } : {}),
      ...headers,
    },
    signal,
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body.json) : formData(form) }),
  });
  const head = {
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers].sort(([one], [other]) => one.localeCompare(other)),
    ms: Math.round(performance.now() - startedAt),
  };
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true && response.body !== null) {
    let text = "";
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      onProgress({ ...head, text, isWhole: false });
    }
    return { ...head, text, isWhole: true };
  }
  const text = await response.text();
  remember(text);
  return { ...head, text: indented(text), ms: Math.round(performance.now() - startedAt), isWhole: true };
}

function formData(form: Readonly<Record<string, string | File>>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(form)) {
    if (value instanceof File) data.append(name, value, value.name);
    else if (value !== "") data.append(name, value);
  }
  return data;
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
