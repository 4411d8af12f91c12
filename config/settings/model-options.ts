/** Options of models as an operator changes them: `requestOptions` of `plugins.ID.models`. */
import { z } from "zod";
import type { RequestOption, RequestOptions } from "../../core/ports/music-provider.js";
import { optionDeclarationIssues, widerIssues } from "../../core/providers/option-declarations.js";
import { isObject, shown } from "../../core/providers/plain-values.js";
import { OPTION_NAME, OPTIONS_MAX } from "../../core/providers/request-options.js";

const OPTION = z.strictObject({
  type: z.enum(["integer", "number", "string", "boolean"]).optional(),
  description: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.int().optional(),
  maxLength: z.int().optional(),
  allowed: z.array(z.string()).optional(),
  default: z.union([z.string(), z.number(), z.boolean()]).nullable().optional(),
});

type GivenOption = z.infer<typeof OPTION>;

/** The members to change of each option; `false` removes one. */
export type GivenOptions = Readonly<Record<string, false | GivenOption>>;

const ALLOWED: Readonly<Record<keyof GivenOption, string>> = {
  type: "integer, number, string, boolean",
  description: "a text",
  minimum: "a number",
  maximum: "a number",
  minLength: "a whole number",
  maxLength: "a whole number",
  allowed: "a list of texts",
  default: "a text, a number, true, false, or null to leave it to the provider",
};

/** What is wrong with `requestOptions` of config by themselves, a line each; the plugin's own are not known here. */
export function givenOptionIssues(options: unknown): readonly string[] {
  const at = "requestOptions";
  if (options === undefined) return [];
  if (!isObject(options)) return [`${at}: ${shown(options)}; allowed: an object, a member for each option`];
  const names = Object.keys(options);
  if (names.length > OPTIONS_MAX) return [`${at}: ${names.length} options; allowed: at most ${OPTIONS_MAX}`];
  return names.flatMap((name) => oneOptionIssues(`${at}.${name}`, name, options[name]));
}

function oneOptionIssues(at: string, name: string, option: unknown): readonly string[] {
  if (!OPTION_NAME.test(name))
    return [`${at}: its name is not in lower snake case; allowed: up to 40 letters, digits and _`];
  if (option === false) return [];
  if (!isObject(option)) return [`${at}: ${shown(option)}; allowed: false, or an object with the members to change`];
  return Object.entries(option).flatMap(([member, value]) => {
    if (!Object.hasOwn(ALLOWED, member))
      return [`${at}.${member}: an option has no such member; allowed: ${Object.keys(ALLOWED).join(", ")}`];
    const known = member as keyof GivenOption;
    return OPTION.shape[known].safeParse(value).success
      ? []
      : [`${at}.${member}: ${shown(value)}; allowed: ${ALLOWED[known]}`];
  });
}

/**
 * The options of a model as the operator changed them. Those of a plugin's own model can be removed and narrowed, since
 * the plugin knows no others; those of a model that the operator adds are declared whole.
 *
 * @param own as the plugin declares them; null for a model that is not the plugin's
 * @returns the issues, a line each, in place of options that cannot be used
 */
export function withGivenOptions(
  own: RequestOptions | null,
  given: GivenOptions,
): { readonly options: RequestOptions; readonly issues: readonly string[] } {
  const options = new Map<string, RequestOption>(Object.entries(own ?? {}));
  const issues: string[] = [];
  for (const [name, change] of Object.entries(given)) {
    const declared = options.get(name);
    if (own !== null && declared === undefined) {
      issues.push(
        `requestOptions.${name}: not an option of this model; allowed: ${[...options.keys()].join(", ") || "none"}`,
      );
    } else if (change === false) {
      options.delete(name);
    } else {
      const option = changed(declared, change);
      issues.push(...issuesOf(name, option, declared));
      options.set(name, option);
    }
  }
  return { options: Object.fromEntries(options), issues: issues };
}

/** `default: null` leaves the default to the provider. */
function changed(declared: RequestOption | undefined, change: GivenOption): RequestOption {
  const members = Object.entries({ ...declared, ...withoutUndefined(change) });
  return Object.fromEntries(members.filter(([, value]) => value !== null)) as unknown as RequestOption;
}

function withoutUndefined(change: GivenOption): GivenOption {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

function issuesOf(name: string, option: RequestOption, declared: RequestOption | undefined): string[] {
  const issues = optionDeclarationIssues("requestOptions", { [name]: option });
  if (issues.length > 0 || declared === undefined) return issues;
  const at = `requestOptions.${name}`;
  if (option.type !== declared.type)
    return [`${at}.type: ${option.type}; allowed: ${declared.type}, as the plugin declares it`];
  return widerIssues(at, name, option, declared);
}
