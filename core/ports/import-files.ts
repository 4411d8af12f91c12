/** A file that an import names. */
export interface ImportFile {
  readonly sizeBytes: number;
  /** Its first bytes, at most {@link HEAD_BYTES}: enough to detect its format. */
  readonly head: Uint8Array;
  read(): AsyncIterable<Uint8Array>;
}

export const HEAD_BYTES = 64;

/** The files that come with an import. No setting selects it: each import is given one; `compose` opens a folder. */
export interface ImportFiles {
  /**
   * @param path relative, its parts joined by `/`; one that leads out of the place of the import is refused, also by a
   *   symbolic link
   * @throws {ImportFileError} there is no such file, it is none, it cannot be read, or it is stored elsewhere
   */
  open(path: string): Promise<ImportFile>;
}

/** Why a file cannot be imported; the message goes behind its name. */
export class ImportFileError extends Error {
  override readonly name = "ImportFileError";
}
