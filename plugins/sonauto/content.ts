/** No mark of refused content is documented: these words of an error are taken for one. */
const REFUSED = /moderat|policy|inappropriate|copyright|not allowed|prohibit/i;

/** True for an error text that says that the content was refused. */
export function saysRefused(text: string): boolean {
  return REFUSED.test(text);
}
