import type { Guard } from "../guard.js";

const WINDOWS = ["test/unit/core/rate-limits/*.test.ts", "test/adapters/rate-limits-memory.test.ts"];
const CONNECTIONS = ["test/api/connections.test.ts"];
const UPLOADS = ["test/unit/core/library/upload-track.test.ts", "test/api/upload-quota.test.ts"];

/** How much one may ask for, hold and leave behind. */
export const LIMITS: readonly Guard[] = [
  {
    name: "a window has room for so many requests",
    file: "core/rate-limits/decision.ts",
    find: "if ((states[index] as WindowState).count >= (rules[index] as WindowRule).limit) return false;",
    replace: "continue;",
    tests: WINDOWS,
  },
  {
    name: "a request that is one too many is refused (memory)",
    file: "adapters/rate-limits/memory/rate-limiter.ts",
    find: "if (!allHaveCapacity(states, rules)) return rateDecision(false, states, rules, now);",
    replace: "",
    tests: WINDOWS,
  },
  {
    name: "a request that is one too many is refused (shared)",
    file: "core/rate-limits/settle-counts.ts",
    find: "if (!allHaveCapacity(states, rules)) return rateDecision(false, states, rules, now);",
    replace: "",
    tests: WINDOWS,
  },
  {
    name: "accounts have allowances of their own",
    file: "core/rate-limits/limits.ts",
    find: "return `${kind} ${account.id}`;",
    replace: "return `${kind} ${account.tier}`;",
    tests: ["test/unit/core/rate-limits/limits.test.ts", "test/api/rate-limits.test.ts"],
  },
  {
    name: "a subject has so much under way",
    file: "core/rate-limits/concurrency-budget.ts",
    find: "if (count >= this.max) return null;",
    replace: "",
    tests: WINDOWS,
  },
  {
    name: "an IPv6 customer is one subject",
    file: "core/rate-limits/client-network.ts",
    find: ".slice(0, 4)\n    .map((group)",
    replace: ".map((group)",
    tests: WINDOWS,
  },
  {
    name: "unfinished bodies of one network",
    file: "adapters/http/connections/body-budget.ts",
    find: "if (heldByNetwork > this.networkMaxBytes) {",
    replace: "if (false) {",
    tests: ["test/unit/http/body-budget.test.ts"],
  },
  {
    name: "connections of one network",
    file: "adapters/http/connections/connections.ts",
    find: "if (open > maxConnectionsPerNetwork)",
    replace: "if (false)",
    tests: CONNECTIONS,
  },
  {
    name: "requests of one connection",
    file: "adapters/http/connections/connections.ts",
    find: "if (lifecycle.unfinishedOn(socket) < limits.maxPipelined) return true;",
    replace: "if (limits.maxPipelined > 0) return true;",
    tests: CONNECTIONS,
  },
  {
    name: "connections altogether",
    file: "adapters/http/connections/connections.ts",
    find: "server.maxConnections = this.deps.limits.maxConnections;",
    replace: "",
    tests: CONNECTIONS,
  },
  {
    name: "requests without a key of one network",
    file: "adapters/http/middleware/network-budget.ts",
    find: "const end = context.deps.networkBudget.enter(request.ip);",
    replace: "const end = (): void => undefined;",
    tests: ["test/api/network-budget.test.ts"],
  },
  {
    name: "callbacks that are kept of a job",
    file: "core/providers/receive-callback.ts",
    find: "if ((await callbacks.countOf(tx, jobId)) >= KEPT_PER_JOB_MAX) {",
    replace: "if (false) {",
    tests: ["test/api/callbacks.test.ts", "test/system/jobs/callbacks.test.ts"],
  },
  {
    name: "the bytes of a callback",
    file: "adapters/http/pages/callbacks.ts",
    find: "return readBody(request, BODY_LIMIT_BYTES);",
    replace: "return readBody(request, BODY_LIMIT_BYTES * 100);",
    tests: ["test/api/callbacks.test.ts", "test/system/attack/callback-bodies.test.ts"],
  },
  {
    name: "an upload takes no more than is left of the quota",
    file: "core/library/upload-track.ts",
    find: "Math.min(limits.maxBytes, left, declaredBytes ?? limits.maxBytes)",
    replace: "Math.min(limits.maxBytes, declaredBytes ?? limits.maxBytes)",
    tests: UPLOADS,
  },
  {
    name: "uploads of one account wait for each other",
    file: "core/library/upload-track.ts",
    find: "await ledger.lockBalances(tx, [account.id]);",
    replace: "",
    tests: ["test/adapters/upload-races.test.ts"],
  },
  {
    name: "the bytes of a download",
    file: "adapters/downloads/bytes.ts",
    find: "if (length > maxBytes) throw tooLarge(maxBytes);",
    replace: "",
    tests: ["test/adapters/downloads.test.ts"],
  },
  {
    name: "the bytes of an archive's entry",
    file: "adapters/downloads/asset-opener.ts",
    find: "recognised(atMost(options.maxBytes, await this.bytesOf(source, options)))",
    replace: "recognised(await this.bytesOf(source, options))",
    tests: ["test/adapters/downloads.test.ts", "test/adapters/downloads-archive.test.ts"],
  },
  {
    name: "the bytes of a webhook's response",
    file: "adapters/webhooks/https/post.ts",
    find: `if (part.length < chunk.length) end("cut");`,
    replace: "",
    tests: ["test/adapters/webhook-sender.test.ts"],
  },
  {
    name: "the sound of a file by its bytes",
    file: "adapters/audio/analyser/sample-budget.ts",
    find: "if (isDense) throw",
    replace: "if (false) throw",
    tests: ["test/unit/audio/sample-budget.test.ts"],
  },
  {
    name: "an audio file stays below its folder",
    file: "adapters/audio/local/audio-store.ts",
    find: `assert(isAudioKey(key), "an audio key is lower-case segments of letters, digits, _, - and .");`,
    replace: "",
    tests: ["test/adapters/audio-local.test.ts"],
  },
];
