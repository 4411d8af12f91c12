import { randomUUID } from "node:crypto";
import { fileEndingOf, ProviderFailure, type SourceAudio } from "../../core/ports/music-provider.js";

/** Headers and body of a call. */
export interface StreamedForm {
  readonly headers: { readonly [name: string]: string };
  readonly body: ReadableStream<Uint8Array>;
}

export interface FormParts {
  /** File name without its extension. */
  readonly name: string;
  /** The field that takes the file; `file` by default. */
  readonly field?: string;
  /** Other fields of the form, before the file; undefined values are omitted. */
  readonly fields?: { readonly [name: string]: string | number | undefined };
}

/**
 * A form with a track in one of its fields, for a call's `headers` and `body`. The file is sent as it is read and never
 * held whole; when it cannot be read to its end, the call is `unavailable`, since the request was not sent completely.
 */
export function streamedForm(source: SourceAudio, { name, field = "file", fields = {} }: FormParts): StreamedForm {
  const boundary = `fermata-${randomUUID()}`;
  const { contentType, sizeBytes } = source;
  const texts = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : [partOf(boundary, `name="${key}"`, "", String(value))],
  );
  const disposition = `name="${field}"; filename="${name}.${fileEndingOf(contentType)}"`;
  const head = encoded([...texts, partOf(boundary, disposition, `Content-Type: ${contentType}\r\n`, "")].join("\r\n"));
  const tail = encoded(`\r\n--${boundary}--\r\n`);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield head;
    yield* readWhole(source);
    yield tail;
  }
  return {
    headers: {
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": String(head.length + sizeBytes + tail.length),
    },
    body: ReadableStream.from<Uint8Array>(chunks()),
  };
}

async function* readWhole(source: SourceAudio): AsyncGenerator<Uint8Array> {
  try {
    yield* source.open();
  } catch (cause) {
    throw new ProviderFailure("unavailable", "The track could not be read.", { cause, billable: "no" });
  }
}

function partOf(boundary: string, disposition: string, header: string, value: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${header}\r\n${value}`;
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
