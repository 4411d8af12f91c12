import type { KeyId } from "./keyring.js";

/**
 * Keeps secrets unreadable at rest, under the installation's secret keys. Replaced through the override `secretBox` of
 * `compose`.
 */
export interface SecretBox {
  /**
   * Seals a text; the same text is sealed differently each time.
   *
   * @param context where it belongs, such as an id: opening it anywhere else fails, so that sealed texts cannot be
   *   swapped in storage
   */
  seal(text: string, context: string): string;
  /**
   * @throws {Error} sealed under another context or under a key that is not in force, or changed since; the text is not
   * in the message
   */
  open(sealed: string, context: string): Promise<string>;
  /**
   * The key that a text was sealed with; `none` for texts of versions without key ids.
   *
   * @throws {Error} it is no sealed text
   */
  keyIdOf(sealed: string): KeyId;
}
