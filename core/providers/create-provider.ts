import type { MusicProvider, ProviderDefinition, ProviderHost } from "../ports/music-provider.js";

/** `create` of a plugin broke its own promise: the settings are not the cause. */
export class NoProviderError extends Error {
  override readonly name = "NoProviderError";
}

/**
 * Calls `create` of a plugin. Plugins written in JavaScript have no compiler that checks what it returns.
 *
 * @throws {NoProviderError} it returned no provider, or threw what says nothing; else the error that it throws
 */
export function createProvider(definition: Pick<ProviderDefinition, "create">, host: ProviderHost): MusicProvider {
  const created = callCreate(definition, host);
  if (isThenable(created)) {
    // What it rejects with would end the process.
    void Promise.resolve(created).catch(() => undefined);
    throw new NoProviderError(
      "create: it returned a Promise; allowed: the provider itself, from a function that is not async",
    );
  }
  if ((typeof created !== "object" && typeof created !== "function") || created === null)
    throw new NoProviderError(
      `create: it returned ${kindOf(created)}; allowed: the provider, an object with the method \`submit\``,
    );
  return created as MusicProvider;
}

function callCreate(definition: Pick<ProviderDefinition, "create">, host: ProviderHost): unknown {
  try {
    return definition.create(host);
  } catch (thrown) {
    if (saysWhy(thrown)) throw thrown;
    throw new NoProviderError(
      `create: it threw ${kindOf(thrown)}; allowed: an Error whose message says what is wrong`,
      { cause: thrown },
    );
  }
}

function saysWhy(thrown: unknown): boolean {
  const message = typeof thrown === "object" && thrown !== null && "message" in thrown ? thrown.message : thrown;
  return typeof message === "string" && message.trim() !== "";
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** What a value is, without what it holds: that may be a secret. */
function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (value instanceof Error) return "an Error without a message";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
