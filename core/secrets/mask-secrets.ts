const MASK = "[redacted]";
/** What is shorter is no secret, and would mask parts of words. */
const LENGTH_MIN = 4;

/** Masks these secrets in texts, as they are and as JSON and URLs write them. */
export function secretMask(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encoded(secret)]);
  // The longer first: a secret may begin with another.
  const known = [...new Set(forms)].filter(({ length }) => length >= LENGTH_MIN).sort((a, b) => b.length - a.length);
  return (text) => known.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
}

function encoded(secret: string): string {
  return encodeURIComponent(secret.toWellFormed());
}
