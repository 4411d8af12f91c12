import type { FieldErrors } from "@tsoa/runtime";
import type { RequestIssue } from "../../core/errors.js";

/** Longest name of a member that is quoted back. */
const NAME_MAX_LENGTH = 100;
/** Most issues in one response. */
const ISSUES_MAX = 20;

const RULES: readonly (readonly [pattern: RegExp, message: string])[] = [
  [/ is required$/, "is required"],
  [/is an excess property/, "is not a known field"],
  [/^invalid string/, "must be a string"],
  [/^invalid boolean/, "must be true or false"],
  [/^invalid integer/, "must be an integer"],
  [/^invalid float/, "must be a number"],
  [/^invalid object/, "must be a JSON object"],
  [/^invalid array/, "must be a list"],
];

const ITEM = /\.\$(\d+)/g;
/** What a union of texts allows, in the words of the generated routes. */
const ALLOWED = /should be one of the following; \['([^']*)'\]/g;

/**
 * The generated routes' findings in the words and paths of this API. The values that were sent, which the findings
 * carry, stay out.
 *
 * @param fields by `body.<member>`, or by the bare name of a query parameter
 */
export function toIssues(fields: FieldErrors): RequestIssue[] {
  return Object.entries(fields)
    .slice(0, ISSUES_MAX)
    .map(([field, { message }]) => ({
      path: pathOf(field),
      message: rewrite(message ?? ""),
    }));
}

/** Messages given in a controller's comments are ours already and pass as they are. */
function rewrite(message: string): string {
  const rule = RULES.find(([pattern]) => pattern.test(message));
  if (rule !== undefined) return rule[1];
  const allowed = [...message.matchAll(ALLOWED)].map(([, text]) => text);
  if (allowed.length > 0) return `must be one of: ${allowed.join(", ")}`;
  return message.startsWith("must ") ? message : "is not valid";
}

/** The generated routes call an item of a list in the body `tracks.$0`. */
function pathOf(field: string): string {
  const path = field.replace(ITEM, "[$1]");
  if (field === "body" || field.startsWith("body.")) return shorten(path);
  return path === field ? `query.${field}` : shorten(`body.${path}`);
}

function shorten(path: string): string {
  return path.length <= NAME_MAX_LENGTH ? path : `${path.slice(0, NAME_MAX_LENGTH)}…`;
}
