import { expect } from "chai";
import type { AssetOpener } from "../../../../core/ports/asset-opener.js";
import type { AudioStore } from "../../../../core/ports/audio-store.js";
import type { ProviderAsset } from "../../../../core/ports/music-provider.js";
import { StoreAsset } from "../../../../core/results/store-asset.js";
import { FaultyPort } from "../../../support/doubles/faulty-port.js";
import { MemoryAudioStore } from "../../../support/doubles/memory-audio-store.js";

const MIX: ProviderAsset = {
  role: "mix",
  label: "full",
  contentType: null,
  durationSeconds: null,
  source: { kind: "url", url: "https://files.example/mix.mp3" },
};

describe("Storing a provider's file", () => {
  it("ends the download when the audio store fails before it reads", async () => {
    const audio = new FaultyPort<AudioStore>(new MemoryAudioStore()).failOn("put", () => new Error("no space is left"));
    const download = { isOpen: true };
    async function* bytes(): AsyncGenerator<Uint8Array> {
      try {
        yield Uint8Array.of(1);
        yield Uint8Array.of(2);
      } finally {
        download.isOpen = false;
      }
    }
    const opener: AssetOpener = {
      // It has looked at the first bytes.
      open: async () => {
        const all = bytes();
        await all.next();
        return { contentType: "audio/mpeg", bytes: all };
      },
      close: () => Promise.resolve(),
    };
    const storeAsset = new StoreAsset({ audio, opener, maxBytes: 1_000, tracer: null });
    const error = await storeAsset.store("a/b", "sample", MIX, new AbortController().signal).catch(String);
    expect(error).to.equal("Error: no space is left");
    expect(download.isOpen).to.equal(false);
  });
});
