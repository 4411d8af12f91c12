/** The API documents no code for refused content: these words in an error count as a refusal. */
const REFUSED = /moderat|policy|inappropriate|copyright|prohibit|blocked|artist name/i;

/** True for an error text that says that the content was refused. */
export function saysRefused(text: string): boolean {
  return REFUSED.test(text);
}
