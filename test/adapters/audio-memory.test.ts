import { audioStoreContract } from "../contract/audio-store.contract.js";
import { MemoryAudioStore } from "../support/doubles/memory-audio-store.js";

audioStoreContract("MemoryAudioStore", async () => ({
  store: new MemoryAudioStore(),
  close: () => Promise.resolve(),
}));
