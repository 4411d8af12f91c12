/** Without its ending, which the browser adds by the file's type. */
export function fileNameOf(title: string): string {
  return title.replace(/[\\/:*?"<>|]+/g, " ").trim() || "Fermata";
}
