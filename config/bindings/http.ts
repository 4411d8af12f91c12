import "reflect-metadata";
import { Container } from "inversify";
import {
  type ActingOperator,
  ADMIN_CONTROLLERS,
  type AdminDeps,
  type AnsweredRequest,
  type AuthenticateRequest,
  CONTROLLERS,
  createHttp,
  type Http,
  type HttpDeps,
  type HttpSettings,
  type McpDeps,
  type McpEndpoint,
  Sessions,
  type StudioDeps,
  type StudioSession,
} from "../../adapters/http/index.js";
import type { Core } from "../../core/create-core.js";
import type { CorePorts } from "../../core/ports/core-ports.js";
import type { LoggedRequest } from "../../core/ports/request-log.js";
import { ConcurrencyBudget } from "../../core/rate-limits/concurrency-budget.js";
import { NetworkBudget } from "../../core/rate-limits/network-budget.js";
import { makeStudioLink } from "../make-studio-link.js";
import type { Settings } from "../settings.js";
import { TOKENS as T } from "../tokens.js";
import { packageVersion } from "../version.js";

/**
 * The servers of an app. Their controllers are bound by class. The container is loaded with the servers: commands and
 * workers have no use for it.
 */
export function bindHttp(core: Core, ports: CorePorts, settings: Settings, server: ServerParts): AppServers {
  const container = new Container({ defaultScope: "Singleton" });
  container.bind(T.settings).toConstantValue(settings);
  container.bind(T.ports).toConstantValue(ports);
  container.bind(T.core).toConstantValue(core);
  const controllers = { get: (Controller: (typeof CONTROLLERS)[number]) => container.get<object>(Controller) };
  const { token, host, port } = settings.admin;
  const isServed = token !== null || port !== null;
  container.bind(T.httpDeps).toResolvedValue(
    (...parts: [Core, CorePorts, Settings]) => ({
      ...httpDeps(...parts, { ...server, controllers }),
      ...(isServed ? { admin: adminDeps(...parts, server) } : {}),
    }),
    [T.core, T.ports, T.settings],
  );
  for (const Controller of [...CONTROLLERS, ...(isServed ? ADMIN_CONTROLLERS : [])]) {
    container.bind(Controller).toResolvedValue((given: HttpDeps) => new Controller(given), [T.httpDeps]);
  }
  const deps = container.get(T.httpDeps);
  if (port === null) return { http: createHttp(deps, isServed ? "public and admin" : "public"), admin: null };
  const own = { ...deps, settings: { ...deps.settings, host, port } };
  return { http: createHttp(deps), admin: createHttp(own, "admin") };
}

/** How long a session at the console lasts, and one at the studio. */
const CONSOLE_SESSION_MS = 12 * 3_600_000;
const STUDIO_SESSION_MS = 7 * 24 * 3_600_000;

function adminDeps(core: Core, ports: CorePorts, settings: Settings, { acting, publicUrl }: ServerParts): AdminDeps {
  const { logger, secretBox, clock } = ports;
  const { accounts, exports, credits, jobs, retryJobs, splits, library, submissions } = core;
  const { providers, overview, margin, webhooks, audit } = core;
  return {
    ...{ accounts, exports, credits, jobs, retryJobs, splits, library, submissions },
    ...{ providers, overview, margin, webhooks, audit, acting },
    generations: core.operateGenerations,
    tokens: core.adminTokens,
    secrets: core.secrets,
    audio: core.audio,
    sessions: new Sessions("fermata_console", CONSOLE_SESSION_MS, { secretBox, clock, publicUrl }),
    hasConsole: settings.admin.console,
    studioLink: (accountId) => makeStudioLink(core, ports, settings, publicUrl, accountId),
    settings: async () => (await import("../shown-settings.js")).showSettingsOf(settings),
    doctor: async () => (await import("../doctor.js")).check(settings, logger),
  };
}

/** The servers of an app. */
export interface AppServers {
  readonly http: Http;
  /** That of the admin API alone; null: it has no port of its own, or is off. */
  readonly admin: Http | null;
}

/** What only the process around the core knows. */
export interface ServerParts extends Pick<HttpDeps, "metrics" | "tracer" | "metricsPage" | "publicUrl" | "readiness"> {
  /** Notes who sends a request of the admin API. */
  readonly acting: ActingOperator;
  /** The embedding app's own sign-in. */
  readonly authenticate?: AuthenticateRequest | undefined;
}

function httpDeps(
  core: Core,
  ports: CorePorts,
  settings: Settings,
  { authenticate, acting: _acting, ...server }: ServerParts & Pick<HttpDeps, "controllers">,
): HttpDeps {
  const { api } = core;
  return {
    ...server,
    settings: httpSettings(settings),
    authenticate: api.authenticate,
    ...(authenticate === undefined
      ? {}
      : { app: { authenticate, findAccount: (id: string) => api.authenticate.findAccount(id) } }),
    ...(settings.studio.enabled ? { studio: studioDeps(core, ports, server) } : {}),
    ...(settings.mcp.enabled ? { mcp: mcpDeps(settings, ports) } : {}),
    limits: api.limits,
    networkBudget: new NetworkBudget(settings.rateLimits.anonymous.concurrent),
    credits: core.credits,
    models: core.models,
    findModels: api.findModels,
    acceptGeneration: api.acceptGeneration,
    acceptSplit: api.acceptSplit,
    ownLibrary: api.ownLibrary,
    readGenerations: api.readGenerations,
    waitForJob: api.waitForJob,
    waits: new ConcurrencyBudget(settings.http.maxWaitsPerAccount, "requests that wait for a job"),
    cancelJob: api.cancelJob,
    followJobs: api.followJobs,
    readLibrary: core.library.read,
    uploadTrack: api.uploadTrack,
    receiveCallback: api.receiveCallback,
    webhookEndpoints: core.webhooks.endpoints,
    readEvents: api.readEvents,
    usage: api.usage,
    recordResponse: (accountId, key, jobId, response) => api.recordResponse.record(accountId, key, jobId, response),
    audioUrls: core.audioUrls,
    shareUrls: core.shareUrls,
    publicLinks: api.publicLinks,
    audioStore: ports.audio,
    clock: ports.clock,
    ids: ports.ids,
    logger: ports.logger,
    onCompleted: (completed) => api.requests.add(toLoggedRequest(completed)),
  };
}

/** Named one by one: a rest and a spread take several µs of every request. */
function toLoggedRequest(completed: AnsweredRequest): LoggedRequest {
  return {
    id: completed.requestId,
    accountId: completed.accountId,
    createdAt: completed.startedAt,
    method: completed.method,
    path: completed.path,
    route: completed.route,
    status: completed.status,
    errorCode: completed.errorCode,
    requestBytes: completed.requestBytes,
    responseBytes: completed.responseBytes,
    jobId: completed.jobId,
    client: completed.client,
    count: 1,
  };
}

function studioDeps(
  { api }: Core,
  { secretBox, clock }: CorePorts,
  { publicUrl }: Pick<HttpDeps, "publicUrl">,
): StudioDeps {
  const codes = { secretBox, clock, publicUrl };
  const sessions = new Sessions<StudioSession>("fermata_studio", STUDIO_SESSION_MS, codes);
  return { sessions, codes, authenticate: api.authenticate };
}

function mcpDeps(settings: Settings, ports: CorePorts): McpDeps {
  const calls = new ConcurrencyBudget(settings.http.maxJobStreamsPerAccount, "calls of /mcp at once by one account");
  return { endpoint: mcpEndpoint(settings, ports), calls };
}

/** Loaded with the first message: most servers have no use for it. */
function mcpEndpoint({ mcp }: Settings, { logger }: CorePorts): McpEndpoint {
  const load = async (): Promise<McpEndpoint> =>
    (await import("../../adapters/mcp/endpoint.js")).createMcpEndpoint({
      version: packageVersion(),
      confirmAbove: mcp.confirmAbove,
      onError: (error) => logger.warn("A message of an MCP client could not be served", { error }),
    });
  let loaded: Promise<McpEndpoint> | undefined;
  return { respond: async (message) => (await (loaded ??= load())).respond(message) };
}

function httpSettings({ http, uploads, audio }: Settings): HttpSettings {
  return {
    host: http.host,
    port: http.port,
    bodyLimitBytes: http.bodyLimitBytes,
    trustProxy: http.trustProxy,
    version: packageVersion(),
    webhookScope: http.webhookScope,
    maxWaitSeconds: http.maxWaitSeconds,
    connections: {
      maxConnections: http.maxConnections,
      maxConnectionsPerNetwork: http.maxConnectionsPerNetwork,
      maxPipelined: http.maxPipelined,
      requestTimeoutMs: Math.ceil(http.requestTimeoutSeconds * 1000),
      stalledResponseMs: http.stalledResponseSeconds * 1000,
    },
    uploads: {
      maxBytes: Math.min(uploads.maxBytes, audio.maxBytes),
      timeoutMs: Math.ceil(uploads.timeoutSeconds * 1000),
    },
  };
}
