import dgram from "node:dgram";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

/**
 * Disables the network of this process: HTTP, TLS and fetch all open their connections by these functions.
 */
export function disableNetwork(): void {
  const refuse = (): never => {
    throw new Error("This process has no network.");
  };
  net.Socket.prototype.connect = refuse;
  net.Server.prototype.listen = refuse;
  dgram.createSocket = refuse;
  for (const method of ["bind", "connect", "send"] as const) dgram.Socket.prototype[method] = refuse;
  syncBuiltinESMExports();
}
