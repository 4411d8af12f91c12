/**
 * What the decoder process runs: it decodes and measures one file after the other, whose bytes come in as it asks for
 * them.
 */
import { assert } from "../../../core/assert.js";
import { Analysis } from "./analysis.js";
import { openDecoder } from "./decoders.js";
import type { DecoderReply, DecoderRequest } from "./messages.js";
import { SampleBudget } from "./sample-budget.js";
import { BrokenAudioError, type Decoder, type Sound } from "./sound.js";

let current: { readonly analysis: Analysis; readonly decoder: Decoder; readonly budget: SampleBudget } | null = null;

export async function handle(request: DecoderRequest): Promise<DecoderReply> {
  try {
    return await process(request);
  } catch (error) {
    return toUnreadable(error);
  }
}

async function process(request: DecoderRequest): Promise<DecoderReply> {
  if (request.kind === "order") {
    const { order } = request;
    const budget = new SampleBudget(order.maxSeconds, order.maxSamples);
    current = { analysis: new Analysis(order, budget), decoder: await openDecoder(order.format, budget), budget };
    return { kind: "next" };
  }
  assert(current !== null, "bytes follow an order");
  const { analysis, decoder, budget } = current;
  if (request.kind === "bytes") {
    budget.feed(request.bytes.length);
    await addAll(analysis, decoder.decode(request.bytes));
    return { kind: "next" };
  }
  await addAll(analysis, decoder.flush());
  decoder.close();
  current = null;
  return { kind: "done", analysis: await analysis.end() };
}

async function addAll(analysis: Analysis, sounds: AsyncIterable<Sound> | Iterable<Sound>): Promise<void> {
  for await (const sound of sounds) analysis.add(sound);
}

/** What a decoder throws at a broken file is of no kind in particular. */
function toUnreadable(error: unknown): DecoderReply {
  return {
    kind: "unreadable",
    message: error instanceof BrokenAudioError ? error.message : `it could not be decoded (${String(error)})`,
  };
}
