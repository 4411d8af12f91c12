import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * A function that responds to requests, as `app.use` of Express 4 and 5 takes it. It has the types of Node alone, so
 * that an app in TypeScript needs those of Express only where it uses Express itself.
 */
export type RequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;
