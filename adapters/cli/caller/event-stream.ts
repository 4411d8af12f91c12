/** An event of a stream, with its data as JSON. */
export interface StreamEvent {
  readonly id: string | null;
  readonly name: string;
  readonly data: unknown;
}

/** The server sends a sign of life every 15 s. */
const SILENCE_MS = 45_000;

/**
 * The events of a response, until it ends.
 *
 * @throws when the connection is lost, or nothing comes for 45 s
 * @see WHATWG HTML, section 9.2, "Server-sent events"
 */
export async function* readEventStream(response: Response): AsyncGenerator<StreamEvent> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let silence: NodeJS.Timeout | undefined;
  const watch = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => void reader.cancel().catch(() => undefined), SILENCE_MS);
  };
  let text = "";
  try {
    for (;;) {
      watch();
      const { done, value } = await reader.read();
      if (done) return;
      text += value.replaceAll("\r", "");
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const event = eventOf(text.slice(0, end));
        text = text.slice(end + 2);
        if (event !== null) yield event;
      }
    }
  } finally {
    clearTimeout(silence);
    await reader.cancel().catch(() => undefined);
  }
}

/** null where there is no data: a comment, or the time to wait before a reconnection. */
function eventOf(block: string): StreamEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const [, name = "", value = ""] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
    if (name !== "") fields.set(name, name === "data" && fields.has(name) ? `${fields.get(name)}\n${value}` : value);
  }
  const data = fields.get("data");
  if (data === undefined) return null;
  return { id: fields.get("id") ?? null, name: fields.get("event") ?? "message", data: JSON.parse(data) as unknown };
}
