import { randomUUID } from "node:crypto";
import { type AudioStore, type CheckResult, failed, ok } from "fermata-music";

const NAME = "audio server";

/** For `fermata doctor`: whether the server does what the store needs of it. What is written is deleted again. */
export async function checkStore(open: () => AudioStore): Promise<readonly CheckResult[]> {
  const key = `doctor-${randomUUID()}.txt`;
  try {
    const store = open();
    const { sizeBytes, etag, modifiedAt } = await store.put(key, Buffer.from("0123456789"), 10);
    try {
      if (sizeBytes !== 10 || etag === "" || Number.isNaN(modifiedAt))
        return [failure("HEAD lacks Content-Length, ETag or Last-Modified.")];
      const parts: Uint8Array[] = [];
      for await (const part of store.read(key, { start: 3, end: 5 })) parts.push(part);
      if (Buffer.concat(parts).toString() !== "345") return [failure("GET does not understand Range.")];
      const [first] = await store.list(key.slice(0, -1), 1);
      if (first?.key !== key) return [failure("The list does not show a file that was stored.")];
    } finally {
      await store.delete(key);
    }
    if ((await store.stat(key)) !== null) return [failure("DELETE leaves the file.")];
    return [ok(NAME, "It stores, reads, lists and deletes.")];
  } catch (error) {
    const { message, cause } = error as Error;
    return [failure(cause instanceof Error ? cause.message : `${message.replace(/\.$/, "")}.`)];
  }
}

function failure(message: string): CheckResult {
  const fix = "Correct audio.url and audio.options.token; the README of the adapter says what the server has to do.";
  return failed(NAME, message, fix);
}
