import { ProviderFailure, type ProviderHandle } from "../../core/ports/music-provider.js";
import type { JsonObject } from "./json.js";

/** Writes and reads the handles of one plugin. */
export interface HandleCodec<Data> {
  /** The handle to return from `submit`, and from a poll that changes it. */
  write(data: Data): ProviderHandle;
  /** @throws {ProviderFailure} `failed`: this plugin did not write the stored handle, or another version of it did */
  read(handle: ProviderHandle): Data;
  /** As `read`, with null in place of the failure: for `pollMany`, where one handle must not fail the others. */
  parse(handle: ProviderHandle): Data | null;
}

/** Version of the handle that a callback comes with when the reply to its submission was lost. */
const LOST_REPLY_VERSION = 0;

/** True for the handle of a callback whose submission's reply was lost: only the callback identifies the work. */
export function isLostReply(handle: ProviderHandle): boolean {
  return handle.version === LOST_REPLY_VERSION;
}

/**
 * @param version raised when the meaning of the data changes; from 1
 * @param read the data as it was written, each member checked; null when one is missing or of the wrong type
 */
export function handleCodec<Data extends object>(
  version: number,
  read: (data: JsonObject) => Data | null,
): HandleCodec<Data> {
  const parse = (handle: ProviderHandle): Data | null => (handle.version === version ? read(handle.data) : null);
  return {
    write: (data) => ({ version, data: { ...(data as JsonObject) } }),
    parse,
    read: (handle) => {
      const data = parse(handle);
      if (data === null) throw foreignHandle();
      return data;
    },
  };
}

/** The failure for a handle that {@link HandleCodec.parse} does not know. */
export function foreignHandle(): ProviderFailure {
  return new ProviderFailure("failed", "The stored handle was not written by this plugin.");
}
