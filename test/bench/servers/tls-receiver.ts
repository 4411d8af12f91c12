/**
 * A receiver that reads every request and returns 204, over TLS, with the least possible work. Key and certificate are
 * in the data directory.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { serve } from "./child.js";

const [, , dataDir = ""] = process.argv;
const server = createServer(
  { key: readFileSync(join(dataDir, "key.pem")), cert: readFileSync(join(dataDir, "cert.pem")) },
  (request, response) => {
    request.resume().on("end", () => response.writeHead(204).end());
  },
);
server.listen(0, "127.0.0.1", () => {
  serve(`https://localhost:${(server.address() as AddressInfo).port}`, async () => {
    server.closeAllConnections();
    server.close();
  });
});
