import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { bytes, type FakeResponse, type Fault, json } from "./responses.js";
import { type FakeRequest, readRequest } from "./request.js";

/** What a route answers: always the same, or what a function makes of the request. */
export type HttpResponse = FakeResponse | ((request: FakeRequest) => FakeResponse | Promise<FakeResponse>);

/**
 * A call of the provider's API. Of the path, `:name` stands for one part and `*` at the end for the rest; the query
 * does not count.
 */
export interface Route {
  readonly method: string;
  readonly path: string;
}

interface ScriptedRoute extends Route {
  readonly pattern: RegExp;
  readonly once: HttpResponse[];
  lasting: HttpResponse | null;
  /** What becomes of the next calls, before all else. */
  readonly faults: (Fault | HttpResponse)[];
}

/**
 * In place of a provider's API: a real HTTP server on this machine that sends scripted responses and records the
 * requests. A request that fits no route is answered 501, and stands in {@link unexpected}.
 *
 * @example
 * const fake = await FakeApi.open();
 * fake.on("POST", "/v1/tasks", json({ id: "t1" }, { status: 202 }));
 * fake.once("GET", "/v1/tasks/:id", json({ status: "running" }));
 * fake.on("GET", "/v1/tasks/:id", json({ status: "done", url: fake.file(tinyMp3()) }));
 * assert.equal((await fetch(`${fake.url}/v1/tasks/t1`)).status, 200);
 * await fake.close();
 */
export class FakeApi {
  /** In the order of their arrival. */
  readonly requests: FakeRequest[] = [];
  /** Calls that no route fits, as `POST /path`. */
  readonly unexpected: string[] = [];
  private readonly routes: ScriptedRoute[] = [];
  private readonly events = new EventEmitter().setMaxListeners(0);
  private readonly server: Server;
  private open = 0;
  private files = 0;
  /** `http://127.0.0.1:PORT`, without a slash at its end. */
  url = "";

  private constructor() {
    // A client may end the connection at any time: that is what some tests are about.
    this.server = createServer((incoming, outgoing) => {
      this.serve(incoming, outgoing).catch((error: unknown) => {
        this.unexpected.push(`${incoming.method ?? ""} ${incoming.url ?? ""}: ${String(error)}`);
        outgoing.destroy();
      });
    });
  }

  static async open(): Promise<FakeApi> {
    const fake = new FakeApi();
    fake.server.listen(0, "127.0.0.1");
    await once(fake.server, "listening");
    fake.url = `http://127.0.0.1:${(fake.server.address() as AddressInfo).port}`;
    return fake;
  }

  /** Responds to every such call so, until another response is scripted. */
  on(method: string, path: string, response: HttpResponse): this {
    this.routeOf(method, path).lasting = response;
    return this;
  }

  /** Answers the next such calls so, each once; then as `on` says. */
  once(method: string, path: string, ...responses: readonly HttpResponse[]): this {
    this.routeOf(method, path).once.push(...responses);
    return this;
  }

  /**
   * Spoils the next answers to such a call on their way, whatever they are; a `hang` and a cut before it make no
   * response at all.
   */
  spoil(route: Route, fault: Fault, times = 1): this {
    this.routeOf(route.method, route.path).faults.push(...Array<Fault>(times).fill(fault));
    return this;
  }

  /** Answers the next such call so, before all that was scripted. */
  instead(route: Route, response: HttpResponse): this {
    this.routeOf(route.method, route.path).faults.push(response);
    return this;
  }

  /** Serves a file. @returns its URL */
  file(content: Uint8Array, contentType = "audio/mpeg", name = "file"): string {
    this.files += 1;
    const path = `/fake-files/${this.files}/${name}`;
    this.on("GET", path, bytes(content, contentType));
    return this.url + path;
  }

  /** The requests of a route, in their order; without one, all. */
  calls(route?: Route): FakeRequest[] {
    if (route === undefined) return [...this.requests];
    const pattern = patternOf(route.path);
    return this.requests.filter(({ method, path }) => method === route.method.toUpperCase() && pattern.test(path));
  }

  /** Resolves with the `count`-th request of a route as soon as it is there. */
  async received(route: Route, count = 1): Promise<FakeRequest> {
    for (;;) {
      const request = this.calls(route)[count - 1];
      if (request !== undefined) return request;
      await once(this.events, "request");
    }
  }

  /** Exchanges that neither side has ended. */
  get openRequests(): number {
    return this.open;
  }

  /** Resolves when no exchange is open. */
  async idle(): Promise<void> {
    while (this.open > 0) await once(this.events, "ended");
  }

  /** Forgets its scripted responses, files included; not the requests. */
  forget(): void {
    this.routes.length = 0;
  }

  /** Ends all connections; from then on they are refused. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, "close");
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private routeOf(method: string, path: string): ScriptedRoute {
    const upper = method.toUpperCase();
    const known = this.routes.find((route) => route.method === upper && route.path === path);
    if (known !== undefined) return known;
    const route: ScriptedRoute = { method: upper, path, pattern: patternOf(path), once: [], lasting: null, faults: [] };
    this.routes.push(route);
    return route;
  }

  private async serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.open += 1;
    outgoing.once("close", () => {
      this.open -= 1;
      this.events.emit("ended");
    });
    const { pathname } = new URL(incoming.url ?? "/", "http://fake");
    const fitting = this.routes.filter(({ method, pattern }) => method === incoming.method && pattern.test(pathname));
    const next = fitting.find(({ faults }) => faults.length > 0)?.faults.shift();
    const fault = typeof next === "string" ? next : undefined;
    // A path that is spelled out goes before one with names in it.
    fitting.sort((a, b) => Number(/[:*]/.test(a.path)) - Number(/[:*]/.test(b.path)));
    const route =
      fitting.find(({ once: responses }) => responses.length > 0) ?? fitting.find(({ lasting }) => lasting !== null);
    const params = route === undefined ? {} : (route.pattern.exec(pathname)?.groups ?? {});
    const response = responseOf(next, route);
    const readsBody = response === null || typeof response === "function" || response.fault !== "cut-request";
    const request = await readRequest(incoming, { ...params }, readsBody).catch(() => null);
    // Who went away in the middle of its own request asks for nothing.
    if (request === null) return;
    this.requests.push(request);
    this.events.emit("request");
    if (response === null) this.unexpected.push(`${request.method} ${request.path}`);
    const created =
      response === null
        ? json({ error: `no route of the fake fits ${request.method} ${request.path}` }, { status: 501 })
        : await resolved(response, request);
    await send(outgoing, fault === undefined ? created : { ...created, fault });
  }
}

/** A cut body needs a body to be cut; the other faults leave what was scripted to the next call. */
function responseOf(next: Fault | HttpResponse | undefined, route: ScriptedRoute | undefined): HttpResponse | null {
  if (next === undefined || next === "cut-body") return route?.once.shift() ?? route?.lasting ?? null;
  return typeof next === "string" ? { fault: next } : next;
}

async function resolved(response: HttpResponse, request: FakeRequest): Promise<FakeResponse> {
  return typeof response === "function" ? response(request) : response;
}

async function send(
  outgoing: ServerResponse,
  { status = 200, headers = {}, body = "", chunks, after, fault }: FakeResponse,
): Promise<void> {
  await after;
  if (fault === "hang") return;
  if (fault === "cut-request" || fault === "cut-reply") return void outgoing.destroy();
  const whole = chunks === undefined ? Buffer.from(body) : Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)));
  if (fault === "cut-body") {
    outgoing.writeHead(status, { ...headers, "content-length": String(Math.max(2, whole.length)) });
    outgoing.write(whole.length < 2 ? " " : whole.subarray(0, Math.ceil(whole.length / 2)), () => outgoing.destroy());
    return;
  }
  if (chunks === undefined) {
    outgoing.writeHead(status, {
      ...headers,
      ...(status === 204 || status === 304 ? {} : { "content-length": String(whole.length) }),
    });
    outgoing.end(whole);
    return;
  }
  outgoing.writeHead(status, headers);
  for (const chunk of chunks) outgoing.write(chunk);
  outgoing.end();
}

/** `/tasks/:id/*` as an expression with groups. */
function patternOf(path: string): RegExp {
  const parts = path.split("/").map((part) => {
    if (part === "*") return ".*";
    return part
      .split(/(:[a-z]\w*)/i)
      .map((chunk) =>
        /^:[a-z]/i.test(chunk) ? `(?<${chunk.slice(1)}>[^/]+)` : chunk.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
      )
      .join("");
  });
  return new RegExp(`^${parts.join("/")}$`);
}
