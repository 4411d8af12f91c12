import { Agent as HttpAgent, type AgentOptions } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Duplex } from "node:stream";
import { ConnectionFailedError, type GuardedConnector } from "./guarded-connector.js";

type Opened = (error: Error | null, socket: Duplex) => void;

/** Where Node's agents want a connection to; Node's types do not know that one may come later. */
interface Target {
  readonly host?: string;
  readonly port?: number | string;
}

/** Agents for clients of Node's `http` and `https`; both open guarded connections alone. */
export function guardedAgents(
  connector: GuardedConnector,
  options: AgentOptions & { readonly connectMs: number },
): { readonly httpAgent: HttpAgent; readonly httpsAgent: HttpsAgent } {
  const { connectMs, ...agentOptions } = options;
  const connect =
    (secure: boolean) =>
    ({ host = "localhost", port = secure ? 443 : 80 }: Target, opened: Opened): void => {
      const target = { hostname: host, port: Number(port), secure, timeoutMs: connectMs };
      void connector.connect(target).then((connected) => {
        if (connected.socket !== null) opened(null, connected.socket);
        else
          opened(new ConnectionFailedError(connected.failure, connected.message, connected.code), undefined as never);
      });
    };
  const [httpAgent, httpsAgent] = [new HttpAgent(agentOptions), new HttpsAgent(agentOptions)];
  Object.assign(httpAgent, { createConnection: connect(false) });
  Object.assign(httpsAgent, { createConnection: connect(true) });
  return { httpAgent, httpsAgent };
}
