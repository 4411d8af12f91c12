/** Test files that one process of mocha goes through. */
export interface Run {
  readonly title: string;
  /** Whether it mostly waits for a database, a broker or a clock. */
  readonly isLight?: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** Paths below `test/`. */
  readonly files: readonly string[];
}

interface Group {
  readonly title: string;
  readonly isLight?: boolean;
  /** Of paths below `test/`: a file belongs to the first group whose pattern it has. */
  readonly pattern: RegExp;
}

/** In the order in which lanes take them: long ones first, so that the lanes end together. */
const GROUPS: readonly Group[] = [
  {
    title: "the build, the package and examples",
    pattern: /^system\/process\/(api|build|driver|emb|exam|guid|mcp|pack|plug|real)/,
  },
  { title: "jobs, purchases and webhooks", pattern: /^system\/(jobs|secrets|waste|webhooks)\//, isLight: true },
  { title: "processes that are started and killed", pattern: /^system\/process\//, isLight: true },
  { title: "units, the API and its security", pattern: /^(api|architecture|security|unit|use-cases)\// },
  { title: "brokers, fleets, attacks and databases that go away", pattern: /^system\/(?!browser|cli|deploy)/ },
  { title: "browsers", pattern: /^system\/browser\// },
  { title: "adapters", pattern: /^adapters\//, isLight: true },
  { title: "the command line", pattern: /^system\// },
  { title: "plugins, and whatever no other run names", pattern: /./ },
];

const API_ON_SERVERS: Omit<Run, "files"> = {
  title: "the API on MySQL and RabbitMQ",
  isLight: true,
  env: { FERMATA_TEST_STACK: "mysql-rabbitmq" },
};
/**
 * Of the API, what is the same on any storage and with any queue: connections and bodies, headers, the description and
 * its readers, sessions, files and their decoders.
 */
const ON_ANY_STORAGE = [
  ...["admission", "connections", "malformed", "mounting", "network-budget", "unfinished-bodies"],
  ...[
    "client",
    "docs",
    "headers",
    "mcp",
    "metrics-page",
    "openapi",
    "scope-table",
    "status-pages",
    "tracing",
    "web-pages",
  ],
  ...["sessions", "studio", "webhook-urls"],
  ...["audio-redirect", "derived-assets", "gpu-song", "hostile-provider", "provider-downloads", "split-bombs"],
].map((name) => `api/${name}`);

/** Each of these test files in one run, and those of the API that a storage or a queue could break in one more. */
export function runsOf(files: readonly string[]): Run[] {
  const groupOf = (file: string): Group | undefined => GROUPS.find(({ pattern }) => pattern.test(file));
  const runs = GROUPS.map((group): Run => {
    const { title, isLight = false } = group;
    return { title, isLight, env: {}, files: files.filter((file) => groupOf(file) === group) };
  });
  const api = files.filter((file) => file.startsWith("api/") && !ON_ANY_STORAGE.some((name) => file.startsWith(name)));
  return [...runs.slice(0, 4), { ...API_ON_SERVERS, files: api }, ...runs.slice(4)];
}
