import { MemoryDatabase } from "../memory-database.js";
import type { Image } from "./image.js";

const opened = new WeakMap<Image, MemoryDatabase>();

/** The database of an image, as it is at the beginning of a run: the run before has ended. */
export function restoredDatabase(image: Image): MemoryDatabase {
  let database = opened.get(image);
  if (database === undefined) opened.set(image, (database = new MemoryDatabase(image.database)));
  database.restore();
  return database;
}
