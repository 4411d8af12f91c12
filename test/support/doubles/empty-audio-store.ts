import type { AudioStore, ListedAudio, StoredAudio } from "../../../core/ports/audio-store.js";

/** Stores no file; for tests of other topics. */
export class EmptyAudioStore implements AudioStore {
  put(): Promise<StoredAudio> {
    return Promise.reject(new Error("This test stores no audio."));
  }

  stat(): Promise<null> {
    return Promise.resolve(null);
  }

  read(): AsyncIterable<Uint8Array> {
    throw new Error("This test reads no audio.");
  }

  deleteAll(): Promise<void> {
    return Promise.resolve();
  }

  delete(): Promise<void> {
    return Promise.resolve();
  }

  list(): Promise<ListedAudio[]> {
    return Promise.resolve([]);
  }
}
