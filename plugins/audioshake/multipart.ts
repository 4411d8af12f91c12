import { fileEndingOf, type SourceAudio } from "../sdk/index.js";

interface StreamedForm {
  readonly headers: { readonly [name: string]: string };
  readonly body: ReadableStream<Uint8Array>;
}

/** A form with the track in its field `file`, which may have gigabytes: it is never held whole. */
export function streamedForm(source: SourceAudio, name: string): StreamedForm {
  const boundary = `fermata-${name}`;
  const { contentType, sizeBytes } = source;
  const disposition = `form-data; name="file"; filename="${name}.${fileEndingOf(contentType)}"`;
  const head = encoded(`--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${contentType}\r\n\r\n`);
  const tail = encoded(`\r\n--${boundary}--\r\n`);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield head;
    yield* source.open();
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

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
