import {
  ConnectionFailedError,
  GuardedConnector,
  GuardedFetch,
  OperatorAddressGuard,
} from "../adapters/network/index.js";
import type { AddressGuard } from "../core/ports/address-guard.js";
import { ProviderFailure } from "../core/ports/music-provider.js";
import type { Tracer } from "../core/ports/tracer.js";
import type { OutgoingRule } from "../core/providers/outgoing-rule.js";

/**
 * What plugins call their provider with: one `fetch` for each, which keeps to the plugin's rule and to the address
 * policy.
 */
export class ProviderFetch {
  private readonly toPublic: GuardedConnector;
  private readonly toConfigured = new GuardedConnector({ guard: new OperatorAddressGuard() });
  private readonly opened: GuardedFetch[] = [];

  /**
   * @param guard for hosts that the operator has not listed
   * @param tracer its running span goes with every call; null: none does
   */
  constructor(
    guard: AddressGuard,
    private readonly tracer: Pick<Tracer, "current"> | null = null,
  ) {
    this.toPublic = new GuardedConnector({ guard });
  }

  fetchFor(rule: OutgoingRule): typeof fetch {
    const guarded = new GuardedFetch({
      refusal: (url) => rule.refusal(url),
      connectorFor: (origin) => (rule.isConfigured(origin) ? this.toConfigured : this.toPublic),
      // Only the operator can allow an address, or find out why a provider names this one.
      refused: (words, cause) => {
        const isAddress = cause instanceof ConnectionFailedError;
        const { providerId } = rule;
        const message = isAddress
          ? `A call of the plugin ${providerId} was refused: ${words}; ` +
            `its origin in plugins.${providerId}.allowHosts allows it.`
          : words;
        return new ProviderFailure("misconfigured", message, {
          cause,
          billable: "no",
          providerCode: "blocked_address",
        });
      },
    });
    this.opened.push(guarded);
    return this.tracer === null ? guarded.fetch : traceparentWith(guarded.fetch, this.tracer);
  }

  async close(): Promise<void> {
    await Promise.all(this.opened.map((guarded) => guarded.close()));
  }
}

/** The state of a caller's trace is not the provider's: `tracestate` stays here. */
function traceparentWith(plain: typeof fetch, tracer: Pick<Tracer, "current">): typeof fetch {
  return (input, init) => {
    const running = tracer.current();
    if (running === null) return plain(input, init);
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    headers.set("traceparent", running.traceparent);
    return plain(input, { ...init, headers });
  };
}
