/** Outgoing connections on behalf of others: the address policy, the guard that applies it, and guarded connections. */
export { type AddressExceptions, AddressPolicy } from "./address-policy.js";
export { DnsAddressGuard } from "./address-guard.js";
export {
  type Connected,
  type ConnectFailure,
  ConnectionFailedError,
  type ConnectPhases,
  type ConnectTarget,
  GuardedConnector,
} from "./guarded-connector.js";
export { guardedAgents } from "./guarded-agents.js";
export { GuardedFetch, type GuardedFetchDeps } from "./guarded-fetch.js";
export { HostsFile } from "./hosts-file.js";
export { type LookUpName, OperatorAddressGuard } from "./operator-address-guard.js";
export { type ResolveName, systemResolver } from "./name-resolver.js";
