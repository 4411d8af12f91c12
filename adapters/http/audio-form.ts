import type { Readable } from "node:stream";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import type { Request } from "express";
import { InvalidRequestError } from "../../core/errors.js";

const FILE = "audio";
const TITLE = "title";
/** Bytes of a title in UTF-8; more than the longest title, so that a longer one is refused by its length. */
const FIELD_MAX_BYTES = 4_096;
const PART_HEADER_MAX_BYTES = 8_192;

/** A file that comes in a form. */
export interface AudioForm {
  /** The file, read once. It ends with the form; throws {@link InvalidRequestError} where that is malformed. */
  readonly audio: AsyncIterable<Uint8Array>;
  /** The part `title`, which may come behind the file; null without one. */
  title(): string | null;
}

/**
 * Reads a `multipart/form-data` body up to its file, and the rest as the file is read: no more than a few chunks of it
 * are in memory. What still comes after an error is read and dropped, so that the client sees the response.
 *
 * @throws {InvalidRequestError} it is malformed, or has no part `audio` that is a file
 */
export async function openAudioForm(request: Request): Promise<AudioForm> {
  const parts = new FormParts(request);
  const file = await parts.file;
  return { audio: parts.read(file), title: () => parts.title };
}

class FormParts {
  title: string | null = null;
  /** Rejects with what is wrong before the file; ends the file with what is wrong behind its beginning. */
  readonly file: Promise<Readable>;
  private readonly parser: BusboyInstance;
  private readonly finished: Promise<void>;
  private found: Readable | null = null;
  private fail: (error: Error) => void = () => undefined;

  constructor(private readonly request: Request) {
    this.parser = parserOf(request);
    this.finished = new Promise((resolve, reject) => {
      this.fail = reject;
      this.parser.once("finish", resolve);
    });
    this.finished.catch((error: Error) => this.stop(error));
    this.file = new Promise((resolve, reject) => {
      this.parser.on("file", (name, stream) => {
        // What goes wrong with the form is reported by the parser as well.
        stream.on("error", () => undefined);
        if (name !== FILE || this.found !== null) this.refuse(name, stream);
        else resolve((this.found = stream));
      });
      this.finished.then(() => reject(invalid(`body.${FILE}`, "is required, as a file")), reject);
    });
    this.parser.on("field", (name, value, isNameCut, isValueCut) => {
      this.takeField(name, value, isNameCut || isValueCut);
    });
    for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const) {
      this.parser.on(limit, () => this.fail(invalid("body", "has too many parts")));
    }
    this.parser.on("error", () => this.fail(malformed()));
    request.once("error", () => this.fail(malformed()));
    request.once("close", () => {
      if (!request.readableEnded) this.fail(malformed());
    });
    request.pipe(this.parser);
  }

  async *read(file: Readable): AsyncGenerator<Uint8Array, void> {
    try {
      try {
        yield* file as AsyncIterable<Uint8Array>;
      } catch {
        // The file ended early because the form did, unless more is known of that already.
        this.fail(malformed());
      }
      await this.finished;
    } finally {
      this.stop();
    }
  }

  private takeField(name: string, value: string, isCut: boolean): void {
    if (name === FILE) this.fail(invalid(`body.${FILE}`, "must be a file"));
    else if (name !== TITLE || this.title !== null) this.refuse(name);
    else if (isCut) this.fail(invalid(`body.${TITLE}`, "is too long"));
    else this.title = value;
  }

  private refuse(name: string, stream?: Readable): void {
    stream?.resume();
    const isKnown = name === FILE || name === TITLE;
    if (name === TITLE && stream !== undefined) this.fail(invalid(`body.${TITLE}`, "must be text"));
    else this.fail(invalid(`body.${name}`, isKnown ? "must be given once" : "is not a known field"));
  }

  /** The rest of the body is read and dropped. */
  private stop(error?: Error): void {
    this.request.unpipe(this.parser);
    this.request.resume();
    this.found?.destroy(error);
    this.parser.destroy();
  }
}

/** @throws {InvalidRequestError} the header's parameters cannot be read */
function parserOf({ headers }: Request): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...headers, "content-type": headers["content-type"] ?? "" },
      limits: {
        fieldNameSize: 100,
        fieldSize: FIELD_MAX_BYTES,
        fields: 2,
        files: 2,
        parts: 3,
        headerPairs: 20,
        headerSize: PART_HEADER_MAX_BYTES,
      },
    });
  } catch {
    throw malformed();
  }
}

function malformed(): InvalidRequestError {
  return invalid("body", "must be a complete multipart/form-data body");
}

function invalid(path: string, message: string): InvalidRequestError {
  return new InvalidRequestError([{ path, message }]);
}
