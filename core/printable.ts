/**
 * Everything that a terminal or a viewer of logs may obey instead of showing: control characters (C0, DEL, C1), format
 * characters (bidirectional controls, zero-width characters, tags), separators of lines and paragraphs, and halves of
 * surrogate pairs.
 *
 * @see Unicode Standard, general categories Cc, Cf, Zl, Zp, Cs; UTR 36, section 3
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const UNPRINTABLE_BUT_LAYOUT = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const LINE_BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/gu;
/** Not among them: joiners and direction marks, which names in many scripts, and emoji, are written with. */
const NOT_IN_NAMES = /[\p{Cc}\p{Cs}\u00ad\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** The text in one line, as it may be shown in a cell: what is unprintable becomes `\u001b` and the like. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/**
 * The same of text that is laid out in lines, which stay; also of a JSON document, which means the same afterwards.
 */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE_BUT_LAYOUT, escaped);
}

/** A title or name as it is stored: in one line, without control characters and invisible formatting. */
export function withoutControls(text: string): string {
  return text.replace(LINE_BREAKS, " ").replace(NOT_IN_NAMES, "").trim();
}

/** One escape for each UTF-16 code unit, as in JSON. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }).join("");
}
