import { createParser } from "eventsource-parser";
import type { ApiClient } from "./api-client.js";

/** An event of a stream, with its data as JSON. */
export interface ReceivedEvent {
  /** null: the stream gave it none. */
  readonly id: string | null;
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A stream of server-sent events that is being read. */
export interface EventStream {
  readonly status: number;
  readonly headers: Headers;
  /** Those that came so far. */
  readonly events: readonly ReceivedEvent[];
  /** Resolves with the first event for which `isIt` is true, also an earlier one. */
  until(isIt: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

/**
 * Opens a stream of the API and reads it.
 *
 * @example
 * const stream = await openEventStream(api, `/api/v1/jobs/${id}/events`);
 * await stream.until(({ name }) => name === "completed");
 */
export async function openEventStream(
  { url, key }: ApiClient,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventStream> {
  const closing = new AbortController();
  const response = await fetch(`${url}${path}`, {
    headers: { Authorization: `Bearer ${key}`, Accept: "text/event-stream", ...headers },
    signal: closing.signal,
  });
  const events: ReceivedEvent[] = [];
  const waiting = new Set<() => void>();
  const parser = createParser({
    onEvent({ id, event = "message", data }) {
      events.push({ id: id ?? null, name: event, data: JSON.parse(data) as ReceivedEvent["data"] });
      for (const look of [...waiting]) look();
    },
    onError(error) {
      throw error;
    },
  });
  const ended = (async () => {
    if (response.body === null) return;
    const text = response.body.pipeThrough(new TextDecoderStream());
    for await (const chunk of text) parser.feed(chunk);
  })();
  ended.catch(() => undefined);
  return {
    status: response.status,
    headers: response.headers,
    events,
    ended,
    close: () => closing.abort(),
    until: (isIt) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = events.find(isIt);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
        const names = (): string => events.map(({ name }) => name).join(", ");
        ended.then(
          () => reject(new Error(`The stream ended without the event; it had: ${names()}.`)),
          (error: unknown) => reject(new Error(`The stream was cut off: ${String(error)}; it had: ${names()}.`)),
        );
      }),
  };
}
