/** @see API v1, section 5 rule 2 */
export const SCOPES = [
  "models:read",
  "credits:read",
  "generations:create",
  "generations:read",
  "library:read",
  "profile:read",
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(value: string): value is Scope {
  return (SCOPES as readonly string[]).includes(value);
}
