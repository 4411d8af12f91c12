/** The API documents no code for refused content: these words in an error count as a refusal. */
const REFUSED = /moderat|policy|inappropriate|copyright|not allowed|prohibit/i;

/** True for an error text that says that the content was refused. */
export function saysRefused(text: string): boolean {
  return REFUSED.test(text);
}
