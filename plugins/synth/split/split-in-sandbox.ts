import { type AskSandbox, ProviderFailure, type ProviderSandbox, type SplitRequest } from "../../sdk/index.js";
import type { RenderedAsset } from "../job-spec.js";
import type { SplitMessage, SplitReply, StemInProcess } from "./messages.js";
import { readSource } from "./read-source.js";

/** The module that the sandbox runs for splits. */
export const SPLIT_HANDLER = new URL(
  import.meta.url.endsWith(".ts") ? "./split-process.ts" : "./split-process.js",
  import.meta.url,
);

/**
 * Splits any audio in a child process: which alone decodes it. The file is sent as it is read, and the stems are
 * returned in chunks, so that this process never holds more than the stems.
 *
 * @throws {ProviderFailure} as `splitAudio`, `readSource` and the sandbox do
 */
export async function splitInSandbox(
  sandbox: ProviderSandbox,
  { operation, source }: Pick<SplitRequest, "operation" | "source">,
  signal: AbortSignal,
): Promise<RenderedAsset[]> {
  if (signal.aborted) throw new ProviderFailure("unavailable", "the work was stopped");
  let parts: AsyncIterator<Uint8Array> | null = null;
  try {
    return await sandbox.run(async (ask) => {
      const send = sender(ask);
      await send({ kind: "begin" });
      parts = source.open()[Symbol.asyncIterator]();
      for await (const bytes of readSource(parts)) await send({ kind: "bytes", bytes });
      const created = await send({ kind: "split", operation });
      const stems: RenderedAsset[] = [];
      for (const [index, stem] of (created.kind === "stems" ? created.stems : []).entries())
        stems.push(await fetchStem(send, index, stem));
      await send({ kind: "end" });
      return stems;
    }, signal);
  } finally {
    // Not awaited: a source that hangs would block its job forever. A failure to close changes nothing.
    (parts as AsyncIterator<Uint8Array> | null)?.return?.().catch(() => undefined);
  }
}

type Send = (message: SplitMessage) => Promise<SplitReply>;

function sender(ask: AskSandbox): Send {
  return async (message) => {
    const reply = (await ask(message)) as SplitReply;
    if (reply.kind === "failed") throw new ProviderFailure(reply.failure, reply.message);
    return reply;
  };
}

async function fetchStem(send: Send, index: number, { sizeBytes, ...stem }: StemInProcess): Promise<RenderedAsset> {
  const bytes = new Uint8Array(sizeBytes);
  for (let offset = 0; offset < sizeBytes;) {
    const reply = await send({ kind: "read", stem: index, offset });
    if (reply.kind !== "bytes" || reply.bytes.length === 0)
      throw new ProviderFailure("failed", `the process lost the stem ${stem.label}`);
    bytes.set(reply.bytes, offset);
    offset += reply.bytes.length;
  }
  return { ...stem, bytes };
}
