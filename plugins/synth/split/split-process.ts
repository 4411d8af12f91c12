/** What a child process of the host's sandbox does: one split at a time, in the order of {@link SplitMessage}. */
import { ProviderFailure } from "../../sdk/index.js";
import type { RenderedAsset } from "../job-spec.js";
import { READ_BYTES, type SplitMessage, type SplitReply } from "./messages.js";
import { splitAudio } from "./split-audio.js";

let chunks: Uint8Array[] = [];
let stems: readonly RenderedAsset[] = [];

export async function handle(request: object): Promise<object> {
  return reply(request as SplitMessage);
}

async function reply(message: SplitMessage): Promise<SplitReply> {
  switch (message.kind) {
    case "begin":
    case "end":
      [chunks, stems] = [[], []];
      return { kind: "done" };
    case "bytes":
      chunks.push(message.bytes);
      return { kind: "done" };
    case "split":
      return split(message);
    case "read":
      return { kind: "bytes", bytes: chunkOf(message) };
  }
}

async function split({ operation }: Extract<SplitMessage, { kind: "split" }>): Promise<SplitReply> {
  const bytes = joined();
  try {
    stems = await splitAudio({ operation, bytes });
    return { kind: "stems", stems: stems.map(({ bytes: { length: sizeBytes }, ...stem }) => ({ ...stem, sizeBytes })) };
  } catch (error) {
    if (ProviderFailure.is(error)) return { kind: "failed", failure: error.kind, message: error.message };
    return { kind: "failed", failure: "failed", message: `the file broke the splitter: ${String(error)}` };
  }
}

/** The whole file; its chunks are released at once, so that it is in memory twice only briefly. */
function joined(): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  chunks = [];
  return whole;
}

function chunkOf({ stem, offset }: Extract<SplitMessage, { kind: "read" }>): Uint8Array {
  return stems[stem]?.bytes.subarray(offset, offset + READ_BYTES) ?? new Uint8Array(0);
}
