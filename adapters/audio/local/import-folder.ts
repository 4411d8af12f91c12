import { constants, createReadStream } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { HEAD_BYTES, type ImportFile, ImportFileError, type ImportFiles } from "../../../core/ports/import-files.js";

/** Files below one folder. */
export class ImportFolder implements ImportFiles {
  constructor(private readonly folder: string) {}

  async open(path: string): Promise<ImportFile> {
    const real = await this.find(path);
    try {
      return await look(real);
    } catch (error) {
      throw error instanceof ImportFileError ? error : toImportFileError(error);
    }
  }

  /** The real path of the file, with every symbolic link resolved. */
  private async find(path: string): Promise<string> {
    let found: readonly [root: string, file: string];
    try {
      found = [await realpath(this.folder), await realpath(join(this.folder, path))];
    } catch (error) {
      throw toImportFileError(error);
    }
    const inside = relative(...found);
    const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
    if (isOutside || isAbsolute(path)) throw new ImportFileError("is outside the folder of the import");
    return found[1];
  }
}

async function look(path: string): Promise<ImportFile> {
  // Opening a pipe would otherwise wait for its writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new ImportFileError("is no file");
    const { buffer, bytesRead } = await file.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return {
      sizeBytes: stat.size,
      head: buffer.subarray(0, bytesRead),
      read: () => createReadStream(path) as AsyncIterable<Uint8Array>,
    };
  } finally {
    await file.close();
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "cannot be read: permission denied",
  ELOOP: "is a symbolic link that leads to itself",
  ENAMETOOLONG: "there is no such file",
};

function toImportFileError(error: unknown): ImportFileError {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return new ImportFileError(REASONS[code] ?? `cannot be read: ${message}`, { cause: error });
}
