/** Test files that one process of mocha goes through. */
export interface Run {
  readonly title: string;
  readonly env: Readonly<Record<string, string>>;
  /** Paths below `test/`. */
  readonly files: readonly string[];
}

interface Group {
  readonly title: string;
  /** Of paths below `test/`: a file belongs to the first group whose pattern it has. */
  readonly pattern: RegExp;
}

/** In the order in which lanes take them: long ones first, so that the lanes end together. */
const GROUPS: readonly Group[] = [
  { title: "jobs, purchases and webhooks", pattern: /^system\/(jobs|secrets|waste|webhooks)\// },
  { title: "processes that are started and killed", pattern: /^system\/process\// },
  { title: "units and the API", pattern: /^(api|architecture|unit)\// },
  { title: "brokers, fleets, attacks and databases that go away", pattern: /^system\/(?!browser|cli|deploy)/ },
  { title: "adapters", pattern: /^adapters\// },
  { title: "the command line and browsers", pattern: /^system\// },
  { title: "plugins, and whatever no other run names", pattern: /./ },
];

const API_ON_SERVERS: Omit<Run, "files"> = {
  title: "the API on MySQL and RabbitMQ",
  env: { FERMATA_TEST_STACK: "mysql-rabbitmq" },
};
/** What files do to decoders has nothing to do with a storage, and costs half a minute. */
const WITHOUT_SERVERS = "api/split-bombs.test.js";

/** Each of these test files in one run, and those of the API in one more. */
export function runsOf(files: readonly string[]): Run[] {
  const groupOf = (file: string): Group | undefined => GROUPS.find(({ pattern }) => pattern.test(file));
  const runs = GROUPS.map((group): Run => {
    return { title: group.title, env: {}, files: files.filter((file) => groupOf(file) === group) };
  });
  const api = files.filter((file) => file.startsWith("api/") && file !== WITHOUT_SERVERS);
  const [first, second, third, ...others] = runs;
  return [first, second, third, { ...API_ON_SERVERS, files: api }, ...others].filter((run) => run !== undefined);
}
