import { expect } from "chai";
import { SettingsError, loadSettings } from "../../../config/load.js";
import { keyLifetimeIssues } from "../../../config/settings/key-lifetime.js";
import type { SettingsSources } from "../../../config/load.js";
import { pathOfUrl } from "../../../config/settings/adapter-url.js";
import type { Settings } from "../../../config/settings.js";

type Given = Partial<SettingsSources> & { readonly file?: string };

function load({ file, env = {}, ...others }: Given = {}): Settings {
  const withFile = file === undefined ? env : { FERMATA_CONFIG: "fermata.yaml", ...env };
  return loadSettings({ cwd: "/srv/app", isTerminal: false, readFile: () => file ?? "", env: withFile, ...others });
}

function issues(given: Given): readonly string[] {
  try {
    load(given);
  } catch (error) {
    if (error instanceof SettingsError) return error.lines;
    throw error;
  }
  return [];
}

describe("loading settings", () => {
  describe("without anything given", () => {
    it("has the documented defaults", () => {
      const {
        dataDir,
        http,
        rateLimits,
        jobs,
        idempotency,
        ledger,
        breaker,
        webhooks,
        retention,
        secrets,
        storage,
        queue,
        audio,
        demo,
        metrics,
      } = load();
      expect(dataDir).to.equal("/srv/app/data");
      expect(http).to.deep.equal({
        host: "127.0.0.1",
        port: 8080,
        processes: 1,
        publicUrl: null,
        trustProxy: false,
        webhookScope: null,
        bodyLimitBytes: 262_144,
        maxConnections: 4_096,
        maxConnectionsPerNetwork: 512,
        maxJobStreamsPerAccount: 20,
        maxWaitSeconds: 55,
        maxWaitsPerAccount: 100,
        maxPipelined: 16,
        requestTimeoutSeconds: 20,
        stalledResponseSeconds: 60,
      });
      expect(rateLimits).to.deep.equal({
        read: { perMinute: 600, perDay: 50_000 },
        generation: { perMinute: 12, perDay: 500 },
        write: { perMinute: 60, perDay: 5_000 },
        authFailures: { perMinute: 120 },
        anonymous: { concurrent: 64 },
        store: "memory",
      });
      expect(jobs).to.deep.equal({
        leaseSeconds: 30,
        maxAttempts: 3,
        backoffMs: 2_000,
        queueDeadlineMinutes: 60,
        renderDeadlineMinutes: 60,
        deadlineMinutes: null,
        submissions: "active",
        confirmSeconds: 60,
        unknownGraceSeconds: 600,
        sweepMs: 1_000,
        shutdownGraceSeconds: 5,
        drainSeconds: 300,
      });
      expect(ledger).to.deep.equal({
        fullCheckHours: 24,
        keepMonths: null,
        archiveDir: "/srv/app/data/ledger-archives",
      });
      expect([idempotency.ttlHours, breaker.failures, breaker.openSeconds]).to.deep.equal([24, 10, 30]);
      expect(webhooks.scheduleSeconds).to.deep.equal([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
      expect([webhooks.timeoutSeconds, webhooks.allowHttp, secrets.key]).to.deep.equal([15, false, null]);
      expect([storage.url, queue.url, audio.url]).to.deep.equal([
        "sqlite:/srv/app/data/fermata.sqlite",
        "memory:",
        "file:/srv/app/data/audio",
      ]);
      expect(retention).to.deep.equal({
        requestDays: 365,
        attemptDays: 730,
        eventDays: 30,
        requestLogDays: 30,
        callbackDays: 14,
        failedAudioHours: 1,
      });
      expect(demo.enabled).to.equal(true);
      expect(metrics).to.deep.equal({ enabled: true, host: "127.0.0.1", port: 9_080 });
    });

    it("has the tiers free, plus and pro, free first, with the limits of everybody", () => {
      const { tiers, rateLimits } = load();
      const { authFailures: _, anonymous: __, store: ___, ...limits } = rateLimits;
      expect(Object.keys(tiers)).to.deep.equal(["free", "plus", "pro"]);
      const uploadsOf = (maxTracks: number, mebibytes: number) => ({ maxTracks, maxBytes: mebibytes * 1024 * 1024 });
      const tier = (maxConcurrent: number, monthlyCredits: number, uploads: object) => {
        return { maxConcurrent, monthlyCredits, rateLimits: limits, uploads };
      };
      expect(tiers["free"]).to.deep.equal(tier(1, 50, uploadsOf(10, 200)));
      expect(tiers["plus"]).to.deep.equal(tier(3, 500, uploadsOf(100, 2_048)));
      expect(tiers["pro"]).to.deep.equal(tier(10, 2_000, uploadsOf(1_000, 20_480)));
    });

    it("has the metrics at a port of their own that follows that of the API", () => {
      const portFor = (port: string): number | null => load({ env: { FERMATA_HTTP__PORT: port } }).metrics.port;
      expect(["8081", "64535", "64536", "65535", "0"].map(portFor)).to.deep.equal([9_081, 65_535, 63_536, 64_535, 0]);
      expect(load({ env: { FERMATA_METRICS__PORT: "" } }).metrics.port).to.equal(null);
      expect(load({ env: { FERMATA_METRICS__PORT: "9464" } }).metrics.port).to.equal(9_464);
    });

    it("has the plugin synth and no other", () => {
      expect(load().plugins).to.deep.equal({
        synth: { enabled: true, use: null, maxInFlight: null, allowHosts: [], models: [], own: {} },
      });
    });

    it("writes pretty lines on a terminal only", () => {
      expect(load({ isTerminal: true }).logs.format).to.equal("pretty");
      expect(load({ isTerminal: false }).logs.format).to.equal("json");
    });
  });

  describe("in layers", () => {
    it("lets the file win over defaults, the environment over the file, overrides over all, setting by setting", () => {
      const settings = load({
        file: "http: { port: 1001, host: 0.0.0.0 }\njobs: { maxAttempts: 7 }\ndataDir: /var/lib/file",
        env: { FERMATA_HTTP__PORT: "1002", FERMATA_DATA_DIR: "/var/lib/env" },
        overrides: { dataDir: "/var/lib/override" },
      });
      expect(settings.http).to.include({ host: "0.0.0.0", port: 1002 });
      expect(settings.jobs).to.include({ maxAttempts: 7, sweepMs: 1_000 });
      expect(settings.dataDir).to.equal("/var/lib/override");
    });

    it("reads a JSON file as well", () => {
      expect(load({ file: '{ "http": { "port": 0 }, "logs": { "level": "debug" } }' }).http.port).to.equal(0);
    });

    it("takes an empty file and groups without anything in them", () => {
      expect(load({ file: "" }).http.port).to.equal(8080);
      expect(load({ file: "http:\njobs: {}\n# nothing else\n" }).http.port).to.equal(8080);
    });

    it("counts rates in all processes together where http.processes asks for several", () => {
      expect(load({ file: "http: { processes: cores }" }).rateLimits.store).to.equal("shared");
      expect(load({ env: { FERMATA_HTTP__PROCESSES: "4" } }).rateLimits.store).to.equal("shared");
      expect(load({ env: { FERMATA_HTTP__PROCESSES: "1" } }).rateLimits.store).to.equal("memory");
      for (const given of ["0", "all", "257", "1.5"])
        expect(() => load({ env: { FERMATA_HTTP__PROCESSES: given } })).to.throw("http.processes");
    });

    it("finds the file from the working directory", () => {
      const asked: string[] = [];
      const readFile = (path: string): string => {
        asked.push(path);
        return "";
      };
      load({ env: { FERMATA_CONFIG: "etc/fermata.yaml" }, readFile });
      load({ env: { FERMATA_CONFIG: "/etc/fermata.yaml" }, readFile });
      load({ env: { FERMATA_CONFIG: "" }, readFile });
      expect(asked).to.deep.equal(["/srv/app/etc/fermata.yaml", "/etc/fermata.yaml"]);
    });

    it("freezes what it returns, at every depth", () => {
      const isFrozen = (value: unknown): boolean =>
        typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
      expect(
        isFrozen(load({ env: { FERMATA_PLUGINS__SYNTH__THREADS: "2", FERMATA_WEBHOOKS__ALLOW_HOSTS: "a" } })),
      ).to.equal(true);
    });
  });

  describe("from the environment", () => {
    it("reads numbers, booleans, choices and texts", () => {
      const { http, webhooks, logs, idempotency } = load({
        env: {
          FERMATA_HTTP__PUBLIC_URL: "https://music.example/api/",
          FERMATA_WEBHOOKS__ALLOW_HTTP: "true",
          FERMATA_LOGS__LEVEL: "warn",
          FERMATA_IDEMPOTENCY__TTL_HOURS: "0.0005",
          FERMATA_JOBS__DEADLINE_MINUTES: "0.015",
          FERMATA_HTTP__WEBHOOK_SCOPE: "profile:read",
        },
      });
      expect(http).to.include({ publicUrl: "https://music.example/api", webhookScope: "profile:read" });
      expect([webhooks.allowHttp, logs.level, idempotency.ttlHours]).to.deep.equal([true, "warn", 0.0005]);
    });

    it("reads lists with commas, blanks around them, and empty ones", () => {
      const { webhooks } = load({
        env: {
          FERMATA_WEBHOOKS__ALLOW_NETWORKS: " 10.0.0.0/8 , fd00::/8,",
          FERMATA_WEBHOOKS__ALLOW_HOSTS: "",
          FERMATA_WEBHOOKS__SCHEDULE_SECONDS: "0.5,1,2",
        },
      });
      expect(webhooks.allowNetworks).to.deep.equal(["10.0.0.0/8", "fd00::/8"]);
      expect(webhooks.allowHosts).to.deep.equal([]);
      expect(webhooks.scheduleSeconds).to.deep.equal([0.5, 1, 2]);
    });

    it("takes an empty text for none where there may be none", () => {
      const { http, metrics, secrets } = load({
        file: "http: { publicUrl: 'https://a.example' }\nmetrics: { port: 9000 }",
        env: { FERMATA_HTTP__PUBLIC_URL: "", FERMATA_METRICS__PORT: "", FERMATA_SECRETS__KEY: "" },
      });
      expect([http.publicUrl, metrics.port, secrets.key]).to.deep.equal([null, null, null]);
    });

    for (const [text, value] of [
      ["true", true],
      ["false", false],
      ["2", 2],
      ["loopback, 10.0.0.0/8", ["loopback", "10.0.0.0/8"]],
      ["192.0.2.1", ["192.0.2.1"]],
    ] as const) {
      it(`reads ${text} as whom to trust as a proxy`, () => {
        expect(load({ env: { FERMATA_HTTP__TRUST_PROXY: text } }).http.trustProxy).to.deep.equal(value);
      });
    }

    it("ignores variables of others, those of Kubernetes for a service named fermata, and of callers", () => {
      const foreign = [
        "PATH",
        "FERMATAX",
        "FERMATA_PORT",
        "FERMATA_SERVICE_HOST",
        "FERMATA_SERVICE_PORT",
        "FERMATA_SERVICE_PORT_HTTP",
        "FERMATA_PORT_8080_TCP",
        "FERMATA_PORT_8080_TCP_ADDR",
        "FERMATA_TEST_MYSQL_URL",
        "FERMATA_URL",
        "FERMATA_API_KEY",
        "FERMATA_PROFILE",
        "FERMATA_WEBHOOK_SECRET",
      ];
      expect(load({ env: Object.fromEntries(foreign.map((name) => [name, "x"])) }).http.port).to.equal(8080);
    });
  });

  describe("paths", () => {
    it("sees relative ones from the working directory and keeps them absolute", () => {
      const { dataDir, storage, audio } = load({
        env: { FERMATA_DATA_DIR: "../state", FERMATA_STORAGE__URL: "sqlite:db/main.sqlite" },
      });
      expect([dataDir, storage.url, audio.url]).to.deep.equal([
        "/srv/state",
        "sqlite:/srv/app/db/main.sqlite",
        "file:/srv/state/audio",
      ]);
      expect(pathOfUrl(storage.url)).to.equal("/srv/app/db/main.sqlite");
    });

    it("takes absolute ones, in the spelling of file URLs too, and a database in memory", () => {
      expect(load({ env: { FERMATA_AUDIO__URL: "file:///var/audio" } }).audio.url).to.equal("file:/var/audio");
      expect(load({ env: { FERMATA_AUDIO__URL: "file:/var/audio" } }).audio.url).to.equal("file:/var/audio");
      expect(load({ env: { FERMATA_STORAGE__URL: "sqlite::memory:" } }).storage.url).to.equal("sqlite::memory:");
    });
  });

  describe("tiers", () => {
    it("changes single figures of a tier and keeps the others", () => {
      const { tiers } = load({
        file:
          "tiers: { pro: { rateLimits: { generation: { perMinute: 100 } } } }\nrateLimits: { generation: { perDay: " +
          "900 } }",
        env: { FERMATA_TIERS__FREE__MAX_CONCURRENT: "2" },
      });
      expect(tiers["free"]).to.include({ maxConcurrent: 2, monthlyCredits: 50 });
      expect(tiers["pro"]?.rateLimits.generation).to.deep.equal({ perMinute: 100, perDay: 900 });
      expect(tiers["free"]?.rateLimits.generation).to.deep.equal({ perMinute: 12, perDay: 900 });
    });

    it("adds a tier, from the file or the environment", () => {
      const { tiers } = load({
        file: "tiers: { big-team: { maxConcurrent: 50, monthlyCredits: 0 } }",
        env: {
          FERMATA_TIERS__BIG_TEAM__MONTHLY_CREDITS: "9000",
          FERMATA_TIERS__SMALL_TEAM__MAX_CONCURRENT: "4",
          FERMATA_TIERS__SMALL_TEAM__MONTHLY_CREDITS: "100",
        },
      });
      expect(Object.keys(tiers)).to.deep.equal(["free", "plus", "pro", "big-team", "small_team"]);
      expect(tiers["big-team"]).to.include({ maxConcurrent: 50, monthlyCredits: 9_000 });
      expect(tiers["small_team"]).to.include({ maxConcurrent: 4, monthlyCredits: 100 });
    });

    it("wants an added tier complete, and its name plain", () => {
      expect(issues({ file: "tiers: { team: { maxConcurrent: 4 } }" })).to.deep.equal([
        "tiers.team.monthlyCredits: missing; set it, or FERMATA_TIERS__TEAM__MONTHLY_CREDITS; " +
          "allowed: an integer of at least 0",
      ]);
      expect(issues({ file: "tiers: { Team!: { maxConcurrent: 4 } }" })).to.deep.equal([
        'tiers (fermata.yaml): "Team!" is not allowed; allowed: up to 30 lower-case letters, digits, _ and -',
      ]);
    });
  });

  describe("plugins", () => {
    it("keeps a plugin's own settings as they were given, with where they came from", () => {
      const { plugins } = load({
        file: "plugins: { synth: { threads: 2 }, mureka: { enabled: true, use: ./my-mureka.js, apiKey: k } }",
        env: { FERMATA_PLUGINS__SYNTH__TEST_HOOKS: "true", FERMATA_PLUGINS__MUREKA__API_KEY: "k2" },
      });
      expect(plugins["synth"]).to.deep.equal({
        enabled: true,
        use: null,
        maxInFlight: null,
        allowHosts: [],
        models: [],
        own: {
          threads: { value: 2, origin: "fermata.yaml", isText: false },
          testHooks: { value: "true", origin: "FERMATA_PLUGINS__SYNTH__TEST_HOOKS", isText: true },
        },
      });
      expect(plugins["mureka"]).to.deep.include({ enabled: true, use: "./my-mureka.js" });
      expect(plugins["mureka"]?.own["apiKey"]?.value).to.equal("k2");
    });

    it("leaves a plugin off until it is enabled, except synth", () => {
      const { plugins } = load({
        env: { FERMATA_PLUGINS__MUREKA__API_KEY: "k", FERMATA_PLUGINS__SYNTH__ENABLED: "false" },
      });
      expect([plugins["mureka"]?.enabled, plugins["synth"]?.enabled]).to.deep.equal([false, false]);
    });

    it("reads _ in the environment as the - of an id", () => {
      const { plugins } = load({ env: { FERMATA_PLUGINS__SUNO_COMPATIBLE__ENABLED: "true" } });
      expect(plugins["suno-compatible"]?.enabled).to.equal(true);
    });
  });

  describe("a setting by its older name", () => {
    const chains = ["suno/v5 > synth/song"];
    const file = "routing:\n  standIns: [suno/v5 > synth/song]\n";
    const renamedOf = (given: Given): readonly object[] => {
      const renamed: object[] = [];
      load({ ...given, onRenamed: (setting) => renamed.push(setting) });
      return renamed;
    };

    it("is read, from the file and from the environment", () => {
      const onRenamed = (): void => undefined;
      expect(load({ file, onRenamed }).routing.fallbacks).to.deep.equal(chains);
      const env = { FERMATA_ROUTING__STAND_INS: "suno/v5 > synth/song" };
      expect(load({ env, onRenamed }).routing.fallbacks).to.deep.equal(chains);
      // An app in JavaScript; the types know only the new name.
      const overrides: object = { routing: { standIns: chains } };
      expect(load({ overrides, onRenamed }).routing.fallbacks).to.deep.equal(chains);
    });

    it("is reported with its new name; the new name is not", () => {
      expect(renamedOf({ file })).to.have.length(1);
      expect(renamedOf({ file })[0]).to.include({
        from: "routing.standIns",
        to: "routing.fallbacks",
        origin: "fermata.yaml",
      });
      expect(renamedOf({ file: file.replace("standIns", "fallbacks") })).to.deep.equal([]);
    });

    it("is refused together with its new name", () => {
      const env = { FERMATA_ROUTING__FALLBACKS: "suno/v5 > synth/song" };
      expect(issues({ file, env })).to.deep.equal([
        "routing.standIns (fermata.yaml): older name of routing.fallbacks, which FERMATA_ROUTING__FALLBACKS sets; " +
          "allowed: one",
      ]);
    });
  });

  describe("issues", () => {
    it("come all at once, a line each, from every source", () => {
      const lines = issues({
        file: "http: { prot: 1, port: high }\njobs: 3\nplugins: { x: [] }",
        env: { FERMATA_LOGS__LEVEL: "loud", FERMATA_HTPP__HOST: "x", FERMATA_DEMO__ENABLED: "yes" },
      });
      expect(lines).to.deep.equal([
        "http.prot (fermata.yaml): unknown setting; did you mean http.port?",
        "jobs (fermata.yaml): 3 is not allowed; allowed: a group of settings",
        "plugins.x (fermata.yaml): [] is not allowed; allowed: a group of settings",
        "FERMATA_HTPP__HOST: unknown setting; did you mean FERMATA_HTTP__HOST?",
        'http.port (fermata.yaml): "high" is not allowed; allowed: an integer from 0 to 65535',
        'logs.level (FERMATA_LOGS__LEVEL): "loud" is not allowed; allowed: error, warn, info, debug',
        'demo.enabled (FERMATA_DEMO__ENABLED): "yes" is not allowed; allowed: true or false',
      ]);
    });

    it("say where the folder of plugins is set", () => {
      expect(issues({ file: "plugins: { dir: /opt/plugins }", env: { FERMATA_PLUGINS__DIR: "/opt" } })).to.deep.equal([
        "plugins.dir (fermata.yaml): unknown setting; did you mean pluginsDir?",
        "FERMATA_PLUGINS__DIR: unknown setting; did you mean FERMATA_PLUGINS_DIR?",
      ]);
    });

    it("show no secret", () => {
      const lines = issues({
        env: {
          FERMATA_SECRETS__KEY: "hunter2-too-short",
          FERMATA_STORAGE__URL: "mysql://root:hunter2@db",
          FERMATA_SECRET_KEY: "hunter2",
          FERMATA_HTTP__PUBLIC_URL: "https://me:hunter2@a.example",
        },
      });
      expect(lines).to.have.length(4);
      expect(lines.join("\n")).to.include("[redacted]").and.not.include("hunter2");
    });

    it("say that a text is a number or a boolean, also of a secret", () => {
      const needsQuotes = "a text that looks like one needs quotes there";
      expect(issues({ file: "admin: { token: 12345 }\nlogs: { level: debug }\nhttp: { host: true }" })).to.deep.equal([
        "http.host (fermata.yaml): true is not allowed; allowed: an address or host name. The value is a boolean: " +
          needsQuotes,
        "admin.token (fermata.yaml): [redacted] is not allowed; allowed: a text of at least 32 characters, or null " +
          `for none. The value is a number: ${needsQuotes}`,
      ]);
    });

    it("masks the password of a malformed URL, wherever it is", () => {
      for (const url of ["//r:hunter2@h", "mysql:root:hunter2@h", "mysql://r:hunter2#@h/a", "r:hun/ter2@h"]) {
        const [line = ""] = issues({ env: { FERMATA_STORAGE__URL: url } });
        expect(line, url)
          .to.include("[redacted]@h")
          .and.not.match(/hunter2|hun/);
      }
    });

    it("are one line each, whatever an unknown name holds, and are found at once for a long one", () => {
      const name = `FERMATA_A\nb\u001b[2J${"X".repeat(100_000)}`;
      const [line = "", ...others] = issues({ env: { [name]: "1" } });
      expect(others).to.deep.equal([]);
      expect(line).to.match(/^FERMATA_A\\u000ab\\u001b\[2JX+: unknown setting$/);
    });

    it("say one thing once: what depends on a wrong setting is not reported with it", () => {
      expect(issues({ env: { FERMATA_RATE_LIMITS__READ__PER_MINUTE: "many", FERMATA_DATA_DIR: "" } })).to.have.length(
        2,
      );
    });

    it("count in the last source only: a wrong value that another source replaces does no harm", () => {
      expect(issues({ file: "http: { port: high }", env: { FERMATA_HTTP__PORT: "80" } })).to.deep.equal([]);
    });

    it("fit on their line", () => {
      const [line = ""] = issues({ env: { FERMATA_LOGS__LEVEL: `first\nsecond${"x".repeat(5_000)}` } });
      expect(line).to.not.include("\n");
      expect(line.length).to.be.below(250);
    });

    for (const [name, given, part] of [
      [
        "a file that is missing",
        { env: { FERMATA_CONFIG: "none.yaml" }, readFile: failingRead },
        "cannot be read (ENOENT",
      ],
      ["a file that is no YAML", { file: "http: { port: 1" }, 'FERMATA_CONFIG: "fermata.yaml" cannot be read'],
      ["a name given twice", { file: "http: { port: 1, port: 2 }" }, "cannot be read"],
      ["a file that is a list", { file: "- 1" }, "settings (fermata.yaml): [1] is not allowed"],
      ["a text for a number in the file", { file: "http: { port: '8080' }" }, 'http.port (fermata.yaml): "8080"'],
      ["a fraction for an integer", { file: "http: { port: 80.5 }" }, "http.port"],
      ["a number for a text", { file: "http: { host: 5 }" }, "http.host"],
      [
        "null for what must be there",
        { file: "http: { port: null }" },
        "http.port (fermata.yaml): null is not allowed",
      ],
      ["a number out of bounds", { env: { FERMATA_HTTP__PORT: "65536" } }, "http.port"],
      ["a number in another notation", { env: { FERMATA_HTTP__PORT: "0x50" } }, "http.port"],
      ["a negative time", { env: { FERMATA_IDEMPOTENCY__TTL_HOURS: "-1" } }, "allowed: a number above 0, at most 8760"],
      ["no time at all", { env: { FERMATA_BREAKER__OPEN_SECONDS: "0" } }, "breaker.openSeconds"],
      ["an empty text", { env: { FERMATA_HTTP__HOST: "" } }, "http.host"],
      ["a list where a number belongs", { env: { FERMATA_HTTP__PORT: "1,2" } }, "http.port"],
      [
        "a network without a length",
        { env: { FERMATA_WEBHOOKS__ALLOW_NETWORKS: "10.0.0.1" } },
        "webhooks.allowNetworks",
      ],
      [
        "a network with too long a prefix",
        { env: { FERMATA_WEBHOOKS__ALLOW_NETWORKS: "10.0.0.0/33" } },
        "webhooks.allowNetworks",
      ],
      ["a host name with a port", { env: { FERMATA_WEBHOOKS__ALLOW_HOSTS: "a.example:80" } }, "webhooks.allowHosts"],
      [
        "an empty item among numbers",
        { env: { FERMATA_WEBHOOKS__SCHEDULE_SECONDS: "5,x" } },
        "webhooks.scheduleSeconds",
      ],
      ["a proxy that is no address", { env: { FERMATA_HTTP__TRUST_PROXY: "everybody" } }, "http.trustProxy"],
      ["a public URL of another scheme", { env: { FERMATA_HTTP__PUBLIC_URL: "ftp://a.example" } }, "http.publicUrl"],
      ["a public URL with a query", { env: { FERMATA_HTTP__PUBLIC_URL: "https://a.example?x=1" } }, "http.publicUrl"],
      ["another state of submissions", { env: { FERMATA_JOBS__SUBMISSIONS: "off" } }, "allowed: active, paused"],
      [
        "a scheme without an adapter",
        { env: { FERMATA_QUEUE__URL: "kafka://a" } },
        'queue.url (FERMATA_QUEUE__URL): "kafka://a" is not allowed; allowed: memory: or ' +
          "amqp://USER:PASSWORD@HOST:PORT,…/VHOST or amqps://USER:PASSWORD@HOST:PORT,…/VHOST",
      ],
      [
        "an empty host in a list",
        { env: { FERMATA_STORAGE__URL: "mysql://u:hidden@db1,,db3/f" } },
        'storage.url (FERMATA_STORAGE__URL): "mysql://[redacted]@db1,,db3/f" is not allowed; allowed: sqlite:PATH or ' +
          "mysql://USER:PASSWORD@HOST:PORT,…/DATABASE. Host 2 of 3 is empty",
      ],
      [
        "a host twice in a list",
        { env: { FERMATA_STORAGE__URL: "mysql://u@db1:3307,db2,DB1:3307/f" } },
        'The host "DB1:3307" is there twice',
      ],
      [
        "a host of a list with a port that is none",
        { env: { FERMATA_STORAGE__URL: "mysql://u@db1,db2:none/f" } },
        'Host 2 of 2 cannot be read: "db2:none"',
      ],
      [
        "several hosts without a database",
        { env: { FERMATA_STORAGE__URL: "mysql://u@db1,db2" } },
        "mysql://USER:PASSWORD@HOST:PORT,…/DATABASE",
      ],
      ["a storage without a path", { env: { FERMATA_STORAGE__URL: "sqlite:" } }, "storage.url"],
      [
        "a database server without a database",
        { env: { FERMATA_STORAGE__URL: "mysql://root@127.0.0.1:3306" } },
        "storage.url",
      ],
      ["a broker without a host", { env: { FERMATA_QUEUE__URL: "amqp:///x" } }, "queue.url"],
      ["a queue in memory with a path", { env: { FERMATA_QUEUE__URL: "memory:x" } }, "queue.url"],
      ["a name that every object has", { env: { FERMATA_QUEUE__URL: "constructor:x" } }, "queue.url"],
      ["a scope that does not exist", { env: { FERMATA_HTTP__WEBHOOK_SCOPE: "all" } }, "http.webhookScope"],
      ["a group for a setting", { file: "http: { port: { a: 1 } }" }, "http.port"],
      [
        "a setting named like a part of objects",
        { file: "http: { constructor: 1 }" },
        "http.constructor (fermata.yaml): unknown setting",
      ],
      ["a variable that names a group", { env: { FERMATA_HTTP: "1" } }, "FERMATA_HTTP: unknown setting"],
      [
        "a variable that goes too deep",
        { env: { FERMATA_HTTP__PORT__X: "1" } },
        "FERMATA_HTTP__PORT__X: unknown setting",
      ],
      ["a variable without a name", { env: { FERMATA_: "1" } }, "FERMATA_: unknown setting"],
      [
        "a plugin's setting that goes too deep",
        { env: { FERMATA_PLUGINS__SYNTH__A__B: "1" } },
        "FERMATA_PLUGINS__SYNTH__A__B: unknown setting",
      ],
      [
        "a plugin's id with capitals",
        { file: "plugins: { Mureka: {} }" },
        'plugins (fermata.yaml): "Mureka" is not allowed',
      ],
      [
        "a job that outlives its key",
        { env: { FERMATA_JOBS__DEADLINE_MINUTES: "1440.5" } },
        "jobs.queueDeadlineMinutes + jobs.renderDeadlineMinutes: 2881 is not allowed; allowed: at most 1440",
      ],
      [
        "a second secret key alone",
        { file: `secrets: { previousKey: ${"k".repeat(32)} }` },
        "secrets.key: missing; set it, or FERMATA_SECRETS__KEY; allowed: the key in force, next to secrets.previousKey",
      ],
      [
        "a key that its job outlives",
        { file: "idempotency: { ttlHours: 0.5 }" },
        "jobs.queueDeadlineMinutes + jobs.renderDeadlineMinutes: 120 is not allowed; allowed: at most 30 minutes",
      ],
      [
        "one port for two servers",
        { env: { FERMATA_METRICS__PORT: "8080" } },
        "metrics.port: 8080 is not allowed; allowed: another port",
      ],
      [
        "two places for traces",
        { env: { FERMATA_TRACING__ENDPOINT: "http://127.0.0.1:4318", FERMATA_TRACING__USE_GLOBAL: "true" } },
        'tracing.endpoint: "http://127.0.0.1:4318" is not allowed; allowed: null, together with tracing.useGlobal',
      ],
      [
        "headers of the collector that are none, without what is secret in them",
        { env: { FERMATA_TRACING__HEADERS: "authorization: Bearer x" } },
        "tracing.headers (FERMATA_TRACING__HEADERS): [redacted] is not allowed; allowed: name=value",
      ],
    ] as readonly (readonly [string, Given, string])[]) {
      it(`are found: ${name}`, () => {
        const lines = issues(given);
        expect(lines).to.have.length(1);
        expect(lines[0]).to.include(part);
      });
    }
  });
});

describe("the lifetime of keys", () => {
  it("is compared with all that a job may take, and may be exactly that", () => {
    const deadlines = { "jobs.oneMinutes": 60, "jobs.otherMinutes": 90 };
    expect(keyLifetimeIssues(deadlines, 2.5)).to.deep.equal([]);
    expect(keyLifetimeIssues(deadlines, 2)).to.deep.equal([
      "jobs.oneMinutes + jobs.otherMinutes: 150 is not allowed; allowed: at most 120 minutes, " +
        "since idempotency.ttlHours is 2: a job never outlives its idempotency key",
    ]);
  });
});

function failingRead(path: string): string {
  throw Object.assign(new Error(`ENOENT: no such file ${path}`), { code: "ENOENT" });
}
