/**
 * Which folder may import which. test/architecture/import-rules.test.ts runs these rules on the tree, and writes a
 * violation of each rule to check that it is reported.
 *
 * @type {import("dependency-cruiser").IConfiguration}
 */
module.exports = {
  forbidden: [
    {
      name: "core-imports-only-core",
      comment:
        "The core has no dependency at all: no library, no node: module. Clock, ids, randomness and hashing come " +
        "through ports.",
      severity: "error",
      from: { path: "^core/" },
      to: { pathNot: "^core/" },
    },
    {
      name: "jobs-import-nothing-that-follows-them",
      comment:
        "What a job is, how it begins and ends, depends neither on its workers nor on who is notified of its end.",
      severity: "error",
      from: { path: "^core/jobs/" },
      to: { path: "^core/(attempts|execution|leases|live-check|maintenance|results|webhooks)/" },
    },
    {
      name: "adapters-import-core-and-libraries",
      comment: "An adapter is constructed with all it needs; it knows no settings, no plugins and no container.",
      severity: "error",
      from: { path: "^adapters/" },
      to: { path: "^(config|plugins|test)/" },
    },
    {
      name: "adapters-keep-to-their-folder",
      comment:
        "An adapter never imports another adapter's internals: config/ wires them. The sandbox is not an adapter of " +
        "a port: adapters run in it what reads untrusted bytes.",
      severity: "error",
      from: { path: "^adapters/([^/]+)/" },
      to: {
        path: "^adapters/",
        // The client is no adapter of a port either: the pages may use it.
        pathNot: ["^adapters/$1/", "^adapters/sandbox/index\\.ts$", "^adapters/client/"],
      },
    },
    {
      name: "adapters-of-one-port-are-apart",
      comment: "Two technologies behind one port share nothing but the port.",
      severity: "error",
      from: { path: "^adapters/(storage|queue|audio|rate-limits|webhooks)/([^/]+)/" },
      to: { path: "^adapters/$1/", pathNot: "^adapters/$1/$2/" },
    },
    {
      name: "plugins-see-only-the-sdk",
      comment: "A plugin imports plugins/sdk/index.ts and its own libraries, nothing else of Fermata.",
      severity: "error",
      from: { path: "^plugins/([^/]+)/", pathNot: "^plugins/sdk/" },
      to: {
        path: "^(core|adapters|plugins|config|test)/",
        pathNot: ["^plugins/$1/", "^plugins/sdk/index\\.ts$"],
      },
    },
    {
      name: "the-sdk-sees-only-the-provider-port",
      comment: "The SDK contains only the provider port and what builds on it.",
      severity: "error",
      from: { path: "^plugins/sdk/" },
      to: {
        path: "^(core|adapters|plugins|config|test)/",
        pathNot: ["^plugins/sdk/", "^core/ports/music-provider\\.ts$"],
      },
    },
    {
      name: "plugins-have-no-network-of-their-own",
      comment: "A plugin reaches the network only by the host's fetch, which checks every address.",
      severity: "error",
      from: { path: "^plugins/" },
      to: {
        path: [
          "^(node:)?(http|https|http2|net|tls|dgram|dns|child_process|cluster)(/|$)",
          "node_modules/(undici|axios|got|node-fetch|ws)/",
          "^(undici|axios|got|node-fetch|ws)(/|$)",
        ],
      },
    },
    {
      name: "only-config-knows-the-container",
      comment: "Inversify binds in config/; there is no service locator elsewhere.",
      severity: "error",
      from: { pathNot: "^config/" },
      to: { path: ["node_modules/(inversify|@inversifyjs|reflect-metadata)/", "^(inversify|reflect-metadata)$"] },
    },
    {
      name: "only-test-imports-config",
      comment: "The composition root wires all other folders; none of them depends on it.",
      severity: "error",
      from: { pathNot: "^(config|test)/" },
      to: { path: "^config/" },
    },
    {
      name: "only-test-imports-test",
      severity: "error",
      from: { pathNot: "^test/" },
      to: { path: "^test/" },
    },
    {
      name: "only-test-imports-development-tools",
      comment: "Code that runs in production imports `dependencies` of package.json only; type imports are erased.",
      severity: "error",
      // The client, the pages and the SDK of adapters/mcp are bundled with theirs; the command is bundled by one.
      from: {
        pathNot: ["^test/", "^adapters/(client|web)/", "^adapters/mcp/(sdk\\.ts|build\\.js)$", "^config/bundle\\.js$"],
      },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "pages-run-in-browsers",
      comment:
        "The pages of adapters/web are bundled for browsers: they know the API by its description, and nothing of " +
        "the server's code; each sees the parts that both share, and not the other page.",
      severity: "error",
      from: { path: "^adapters/web/(console|studio|parts)/" },
      to: {
        path: "^((core|adapters|plugins|config|test)/|(node:)?(fs|path|url|http|crypto|process|stream)(/|$))",
        pathNot: ["^adapters/web/$1/", "^adapters/web/(parts|generated)/", "^adapters/client/"],
      },
    },
    {
      name: "the-client-runs-anywhere",
      comment:
        "adapters/client is bundled for browsers and Node: it knows the API by its description, and neither the " +
        "server's code nor a module of Node. Its build runs in Node.",
      severity: "error",
      from: { path: "^adapters/client/", pathNot: "^adapters/client/(build|bundling)\\.js$" },
      to: {
        path: "^((core|adapters|plugins|config|test)/|node:|(fs|path|url|https?|crypto|process|stream|buffer)(/|$))",
        pathNot: "^adapters/client/",
      },
    },
    {
      name: "mcp-calls-the-public-api",
      comment: "Tools for MCP clients call the HTTP API alone, by Fermata's client, so that they work with any server.",
      severity: "error",
      from: { path: "^adapters/mcp/", pathNot: "^adapters/mcp/build\\.js$" },
      to: { path: "^(core|adapters|plugins|config|test)/", pathNot: "^adapters/(mcp|client)/" },
    },
    {
      name: "imports-are-declared",
      comment: "A library that is installed only because another depends on it can disappear with an update.",
      severity: "error",
      from: {},
      // A development dependency that is a peer dependency too is called npm-no-pkg as well.
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown", "unknown"], dependencyTypesNot: ["npm-dev"] },
    },
    {
      name: "imports-go-one-way",
      severity: "error",
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|coverage|data)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
      // Few, and remembered for the whole run: most of its time goes into looking for files that are not there.
      extensions: [".js", ".ts", ".tsx", ".d.ts"],
      cachedInputFileSystem: { cacheDuration: 600_000 },
    },
  },
};
