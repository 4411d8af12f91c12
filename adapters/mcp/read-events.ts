/** An event of a stream, with its data as JSON. */
export interface ApiEvent {
  /** null: the stream gave it none. */
  readonly id: string | null;
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads what `GET /api/v1/jobs/{job_id}/events` sends: one line of data for each event, and comments. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ApiEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = eventOf(block);
      if (event !== null) yield event;
    }
  }
}

function eventOf(block: string): ApiEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const [, name = "", value = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    fields.set(name, value);
  }
  const data = fields.get("data");
  if (data === undefined) return null;
  return {
    id: fields.get("id") ?? null,
    name: fields.get("event") ?? "message",
    data: JSON.parse(data) as ApiEvent["data"],
  };
}
