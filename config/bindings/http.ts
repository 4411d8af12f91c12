import type { Container } from "inversify";
import { CONTROLLERS, type ControllerSource, type HttpParts } from "../../adapters/http/index.js";
import { NetworkBudget } from "../../core/rate-limits/network-budget.js";
import { TOKENS as T } from "../tokens.js";
import { packageVersion } from "../version.js";

/** Controllers by class, from the parts of this app; each request gets its own. */
export function bindControllers(container: Container): void {
  for (const Controller of CONTROLLERS) {
    container
      .bind(Controller)
      .toResolvedValue((parts: HttpParts) => new Controller(parts), [T.httpParts])
      .inTransientScope();
  }
}

function controllersOf(container: Container): ControllerSource {
  return { get: (Controller) => container.get<object>(Controller) };
}

/** What the HTTP adapter gets of the app. */
export function httpParts(
  container: Container,
  figures: Pick<HttpParts, "metrics" | "metricsPage">,
  readiness: () => Promise<readonly string[]>,
): HttpParts {
  const { http, rateLimits, uploads, audio } = container.get(T.settings);
  const answers = container.get(T.recordAnswer);
  const recorder = container.get(T.recordRequests);
  return {
    settings: {
      host: http.host,
      port: http.port,
      bodyLimitBytes: http.bodyLimitBytes,
      trustProxy: http.trustProxy,
      version: packageVersion(),
      webhookScope: http.webhookScope,
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
    },
    publicUrl: container.get(T.publicUrl),
    authenticate: container.get(T.authenticate),
    limits: container.get(T.limits),
    networkBudget: new NetworkBudget(rateLimits.anonymous.concurrent),
    credits: container.get(T.manageCredits),
    models: container.get(T.listModels),
    acceptGeneration: container.get(T.acceptGeneration),
    readGenerations: container.get(T.readGenerations),
    waitForJob: container.get(T.waitForJob),
    readLibrary: container.get(T.readLibrary),
    uploadTrack: container.get(T.uploadTrack),
    receiveCallback: container.get(T.receiveCallback),
    webhookEndpoints: container.get(T.manageEndpoints),
    usage: container.get(T.readUsage),
    recordAnswer: (accountId, key, jobId, answer) => answers.record(accountId, key, jobId, answer),
    audioUrls: container.get(T.audioUrls),
    shareUrls: container.get(T.shareUrls),
    publicLinks: container.get(T.publicLinks),
    audioStore: container.get(T.audio),
    clock: container.get(T.clock),
    ids: container.get(T.ids),
    logger: container.get(T.logger),
    controllers: controllersOf(container),
    readiness,
    onAnswered: ({ requestId, startedAt, ...answered }) =>
      recorder.add({ ...answered, id: requestId, createdAt: startedAt, count: 1 }),
    ...figures,
  };
}
