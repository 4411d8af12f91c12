import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { AssetSource, ProviderFailure } from "../../core/ports/music-provider.js";
import { contentOf, failureOf } from "../contract/asset-opener.contract.js";
import { Gate } from "../support/stepping.js";
import { openerFor, openWith } from "./downloads-support.js";

const LIMITS = { firstByteMs: 60, idleMs: 60, totalMs: 60_000 };
const MP3_HEAD = Buffer.from("ID3\u0004\0\0\0\0\0\0");

const forever = (): Promise<never> => new Promise(() => undefined);

describe("A plugin's stream", () => {
  let closed = new Gate();
  beforeEach(() => void (closed = new Gate()));

  function source(open: () => AsyncIterable<unknown>): AssetSource {
    return { kind: "stream", open: open as () => AsyncIterable<Uint8Array> };
  }

  /** Gives the beginning of an MP3, then goes on as `rest` does. */
  function mp3(rest: () => AsyncIterable<unknown>): AssetSource {
    return source(async function* () {
      try {
        yield Buffer.concat([MP3_HEAD, Buffer.alloc(8_192)]);
        yield* rest();
      } finally {
        closed.open();
      }
    });
  }

  async function failure(
    of: AssetSource,
    limits: Partial<typeof LIMITS> = {},
    signal = new AbortController().signal,
  ): Promise<Pick<ProviderFailure, "kind" | "message">> {
    const opener = openerFor({ limits: { ...LIMITS, ...limits } });
    try {
      const { kind, message } = await failureOf(openWith(opener, of, { signal }).then(contentOf));
      return { kind, message };
    } finally {
      await opener.close();
    }
  }

  const givenUp = (why: string): Pick<ProviderFailure, "kind" | "message"> => ({
    kind: "unavailable",
    message: `The provider's stream was given up: ${why}.`,
  });

  it("that never gives a byte is given up", async () => {
    const silent = source(async function* () {
      yield await forever();
    });
    expect(await failure(silent)).to.deep.equal(givenUp("it stood still for too long"));
  });

  it("that stands still in the middle is given up", async () => {
    const stuck = mp3(async function* () {
      yield await forever();
    });
    expect(await failure(stuck)).to.deep.equal(givenUp("it stood still for too long"));
  });

  it("that trickles is given up after the time for a whole file, and closed", async () => {
    const trickle = mp3(async function* () {
      for (;;) {
        await pause(5);
        yield Buffer.alloc(1);
      }
    });
    expect(await failure(trickle, { totalMs: 100 })).to.deep.equal(givenUp("it timed out"));
    await closed.opened;
  });

  it("ends when its storing is aborted", async () => {
    const aborting = new AbortController();
    const stuck = mp3(async function* () {
      aborting.abort();
      yield await forever();
    });
    expect(await failure(stuck, { idleMs: 60_000 }, aborting.signal)).to.deep.equal(givenUp("it was aborted"));
  });

  it("that gives texts is refused by what it gave", async () => {
    const texts = source(async function* () {
      yield "ID3";
    });
    expect(await failure(texts)).to.deep.equal({
      kind: "failed",
      message: "The provider's stream gave a string; allowed: bytes (Uint8Array).",
    });
  });

  it("that cannot be opened is a temporary failure", async () => {
    const broken = source(() => {
      throw new Error("no such file");
    });
    expect(await failure(broken)).to.deep.equal({
      kind: "unavailable",
      message: "The provider's stream was interrupted.",
    });
  });

  it("is closed where it is not read to its end", async () => {
    const opener = openerFor({ limits: LIMITS });
    const endless = mp3(async function* () {
      for (;;) yield Buffer.alloc(1_024);
    });
    const { bytes } = await openWith(opener, endless);
    for await (const chunk of bytes) if (chunk.length > 0) break;
    await closed.opened;
    await opener.close();
  });
});
