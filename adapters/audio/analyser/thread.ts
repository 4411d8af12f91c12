/** The thread that listens to files, one after the other: their bytes come in as they are asked for, one answer goes out for each. */
import { parentPort } from "node:worker_threads";
import { assert } from "../../../core/assert.js";
import { Analysis } from "./analysis.js";
import { openDecoder } from "./decoders.js";
import type { FromThread, ToThread } from "./messages.js";
import { BrokenAudioError, type Decoder } from "./sound.js";

const port = parentPort;
assert(port !== null, "this file is the first of a thread");

let current: { readonly analysis: Analysis; readonly decoder: Decoder } | null = null;

port.on("message", (message: ToThread) => void answer(message));

async function answer(message: ToThread): Promise<void> {
  port?.postMessage(await take(message).catch(toUnreadable));
}

async function take(message: ToThread): Promise<FromThread> {
  if (message.kind === "order") {
    current = { analysis: new Analysis(message.order), decoder: await openDecoder(message.order.format) };
    return { kind: "next" };
  }
  assert(current !== null, "bytes follow an order");
  const { analysis, decoder } = current;
  if (message.kind === "bytes") {
    analysis.add(await decoder.decode(message.bytes));
    return { kind: "next" };
  }
  analysis.add(await decoder.flush());
  decoder.close();
  current = null;
  return { kind: "done", analysis: await analysis.end() };
}

/** What a decoder throws at a broken file is of no kind in particular. */
function toUnreadable(error: unknown): FromThread {
  return { kind: "unreadable", message: error instanceof BrokenAudioError ? error.message : `it could not be decoded (${String(error)})` };
}
