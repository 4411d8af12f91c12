/** Keeps secrets unreadable at rest, under the installation's secret key. */
export interface SecretBox {
  /**
   * Seals a text; the same text is sealed differently each time.
   *
   * @param context where it belongs, such as an id: opening it anywhere else fails, so that sealed texts cannot be swapped in storage
   */
  seal(text: string, context: string): string;
  /** @throws {Error} sealed under another key or context, or changed since; the text is not in the message */
  open(sealed: string, context: string): string;
}
