/** The text in a log line in place of a secret. */
export const MASK = "[redacted]";

const DEPTH_MAX = 8;

/** Words that make a field's name a secret's name, anywhere in the name. */
const SECRET_WORDS = new Set([
  "authorization",
  "cookie",
  "credential",
  "credentials",
  "passphrase",
  "passwd",
  "password",
  "pwd",
  "secret",
  "secrets",
  "token",
]);

/** What a `key` is secret as: an `idempotencyKey` or the `key` of a file is none. */
const KEY_WORDS = new Set(["access", "api", "auth", "encryption", "private", "secret", "signing"]);

/**
 * Secrets that are recognised by their form, in any text. Repetitions are bounded: a text may be long, and written to
 * be slow.
 */
const SECRET_FORMS: readonly { readonly form: RegExp; readonly becomes: string }[] = [
  { form: /\bfrm_[0-9A-Za-z]{12,200}/g, becomes: `frm_${MASK}` },
  { form: /\bwhsec_[0-9A-Za-z+/=_-]{12,200}/g, becomes: `whsec_${MASK}` },
  { form: /\b(Bearer|Basic)\s{1,4}[A-Za-z0-9._~+/=-]{6,4000}/gi, becomes: `$1 ${MASK}` },
  { form: /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@"'`<>]{1,500}@/gi, becomes: `$1${MASK}@` },
  {
    form: /([?&;](?:[\w.-]{0,40}(?:token|secret|password|signature|credential|api[_-]?key)|sig|key)=)[^&\s"'`<>#]{1,4000}/gi,
    becomes: `$1${MASK}`,
  },
];

/** True when a field of this name holds a secret: `apiKey`, `signing_secret`, `X-Auth-Token`, `secrets`. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.some(
    (word, index) =>
      SECRET_WORDS.has(word) || word === "apikey" || (word === "key" && KEY_WORDS.has(words[index - 1] ?? "")),
  );
}

/** The text with API keys, signing secrets, credentials and signatures in URLs masked. */
export function redactText(text: string): string {
  return SECRET_FORMS.reduce((masked, { form, becomes }) => masked.replace(form, becomes), text);
}

/**
 * A copy that is safe to write as JSON: secrets masked at every depth, errors with their chain of causes, no cycles.
 */
export function redact(value: unknown): unknown {
  return copy(value, [], 0);
}

function copy(value: unknown, above: readonly object[], depth: number): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint" || typeof value === "symbol") return String(value);
  if (typeof value === "function") return "[function]";
  if (typeof value !== "object" || value === null) return value;
  if (above.includes(value)) return "[circular]";
  if (depth >= DEPTH_MAX) return "[deeper]";
  return copyObject(value, [...above, value], depth + 1);
}

function copyObject(value: object, above: readonly object[], depth: number): unknown {
  if (value instanceof Error) return copyError(value, above, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
  if (value instanceof URL) return redactText(value.href);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.map((item) => copy(item, above, depth));
  if (value instanceof Set) return [...value].map((item) => copy(item, above, depth));
  const entries =
    value instanceof Map ? [...value].map(([name, item]) => [String(name), item] as const) : readableEntries(value);
  return Object.fromEntries(entries.map(([name, item]) => [name, copyField(name, item, above, depth)]));
}

/**
 * Under a secret's name everything is masked, objects and lists included; only "there is none" and yes or no are shown.
 */
function copyField(name: string, value: unknown, above: readonly object[], depth: number): unknown {
  if (!isSecretName(name)) return copy(value, above, depth);
  return value === null || value === undefined || typeof value === "boolean" ? value : MASK;
}

/** Other fields that errors carry are left out: drivers put statements with their values there. */
function copyError(error: Error, above: readonly object[], depth: number): object {
  const { code, errno, kind } = error as { code?: unknown; errno?: unknown; kind?: unknown };
  return {
    name: error.name,
    message: redactText(error.message),
    ...primitives({ code, errno, kind }),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: copy(error.cause, above, depth) }),
    ...(error instanceof AggregateError ? { errors: copy(error.errors, above, depth) } : {}),
  };
}

function primitives(fields: Readonly<Record<string, unknown>>): object {
  const kept = Object.entries(fields).filter(([, value]) => typeof value === "string" || typeof value === "number");
  return Object.fromEntries(kept.map(([name, value]) => [name, copy(value, [], 0)]));
}

/** A getter that throws must not cost the line. */
function readableEntries(value: object): (readonly [string, unknown])[] {
  return Object.keys(value).map((name) => {
    try {
      return [name, (value as Record<string, unknown>)[name]] as const;
    } catch {
      return [name, "[unreadable]"] as const;
    }
  });
}
