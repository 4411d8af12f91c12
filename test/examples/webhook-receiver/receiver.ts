import { createServer, type IncomingMessage } from "node:http";
import { Webhook } from "standardwebhooks";

/** The body of every event. */
interface Event {
  readonly type: string;
  readonly data: { readonly job_id: string };
}

const webhook = new Webhook(process.env["SIGNING_SECRET"] ?? ""); // as the endpoint was created with it
const seen = new Set<string>(); // a database in a real receiver: events come at least once

const server = createServer((request, response) => {
  receive(request).then(
    () => response.writeHead(204).end(),
    (error: unknown) => {
      console.error(String(error));
      response.writeHead(400).end(); // it is sent again
    },
  );
});

async function receive(request: IncomingMessage): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  // Throws unless the signature is Fermata's and a few minutes old at most.
  const event = webhook.verify(Buffer.concat(chunks), request.headers as Record<string, string>) as Event;
  const id = String(request.headers["webhook-id"]);
  if (seen.has(id)) return;
  seen.add(id);
  console.log(event.type, event.data.job_id);
}

server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => console.log("listening"));
process.once("SIGTERM", () => server.close());
