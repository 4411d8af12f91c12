import { Writable } from "node:stream";
import { expect } from "chai";
import { PrometheusMetrics } from "../../adapters/observability/metrics.js";
import { SharedMetricsPage } from "../../adapters/observability/shared-metrics-page.js";
import { isSecretName, redact, redactText } from "../../adapters/observability/redact.js";
import { WinstonLogger } from "../../adapters/observability/winston-logger.js";
import type { LogFormat, LogLevel } from "../../adapters/observability/log-options.js";
import { loggerContract } from "../contract/logger.contract.js";
import { RecordingLogger } from "../support/doubles/recording-logger.js";
import type { LogLine } from "../support/doubles/recording-logger.js";

const A_JOB = {
  status: "completed",
  operation: "music_synth_full",
  provider: "synth",
  model: "synth/song",
  seconds: 40,
  queueSeconds: 2,
  renderSeconds: 30,
};
const TOKEN = `frm_${"Ab1".repeat(15)}z`;

function aLogger(format: LogFormat, level: LogLevel = "debug"): { readonly logger: WinstonLogger; text(): string } {
  const written: string[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk.toString());
      done();
    },
  });
  return { logger: WinstonLogger.open({ level, format, stream }), text: () => written.join("") };
}

function parsedLines(text: string): LogLine[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { time, level, message, ...fields } = JSON.parse(line) as {
        time: string;
        level: LogLine["level"];
        message: string;
      };
      expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      return { level, message, fields };
    });
}

loggerContract("WinstonLogger as JSON", () => {
  const { logger, text } = aLogger("json");
  return { logger, lines: () => parsedLines(text()) };
});
loggerContract("RecordingLogger", () => {
  const logger = new RecordingLogger();
  return { logger, lines: () => JSON.parse(JSON.stringify(logger.lines)) as LogLine[] };
});

describe("WinstonLogger", () => {
  it("omits lines below its level", () => {
    const { logger, text } = aLogger("json", "warn");
    logger.debug("no");
    logger.info("no");
    logger.warn("yes");
    logger.error("yes");
    expect(parsedLines(text()).map(({ level }) => level)).to.deep.equal(["warn", "error"]);
  });

  it("says whether it writes debug lines", () => {
    expect(aLogger("json", "debug").logger.child({}).isDebugEnabled).to.equal(true);
    expect(aLogger("json", "info").logger.child({}).isDebugEnabled).to.equal(false);
  });

  it("keeps fields whose names are those of the line's own members", () => {
    const { logger, text } = aLogger("json");
    logger.info("said", { message: "mine", level: 9, time: "then" });
    expect(parsedLines(text())).to.deep.equal([
      { level: "info", message: "said", fields: { field_message: "mine", field_level: 9, field_time: "then" } },
    ]);
  });

  it("writes one line per entry, whatever the text contains", () => {
    const { logger, text } = aLogger("json");
    logger.info("two\nlines", { more: "and\nmore" });
    expect(text().split("\n")).to.have.length(2);
  });

  for (const format of ["json", "pretty"] as const) {
    it(`writes no control and no invisible characters, as ${format}`, () => {
      const { logger, text } = aLogger(format);
      const hostile = "x\u001b[2J\u009b31m\u202e\u2066\u200b\u007f\u{e0041}";
      logger.warn(`said ${hostile}`, { [hostile]: hostile, error: new Error(hostile, { cause: new Error(hostile) }) });
      logger.error("failed", { error: hostile });
      expect(text()).to.match(/^[\x20-\x7e\n]+$/);
      expect(text().match(/\\u202e/g)?.length).to.be.at.least(5);
    });
  }

  it("keeps the meaning of JSON lines", () => {
    const { logger, text } = aLogger("json");
    const hostile = "x\u001b\u009b\u202e\u{e0041}";
    logger.info(hostile, { title: hostile });
    expect(parsedLines(text())).to.deep.equal([{ level: "info", message: hostile, fields: { title: hostile } }]);
  });

  it("keeps a pretty message on one line", () => {
    const { logger, text } = aLogger("pretty");
    logger.info("said\n12:00:00.000 INFO  forged", { more: "a\nb" });
    expect(text().trimEnd().split("\n")).to.have.length(1);
  });

  it("writes readable text when pretty, with causes below", () => {
    const { logger, text } = aLogger("pretty");
    logger.info("listening", { url: "http://127.0.0.1:8080", note: "two words" });
    logger.error("failed", { error: new Error("outer", { cause: new Error("inner") }) });
    const [first = "", second = "", ...rest] = text().split("\n");
    expect(first).to.match(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}listening url=http:\/\/127\.0\.0\.1:8080 note="two words"$/);
    expect(second).to.match(/ ERROR failed$/);
    expect(rest.join("\n")).to.include("  Error: outer").and.include("  caused by: Error: inner");
  });

  it("has written every line when it is closed, and accepts no more", async () => {
    const { logger, text } = aLogger("json");
    for (let line = 0; line < 100; line++) logger.info("line");
    await logger.close();
    logger.info("late");
    expect(parsedLines(text())).to.have.length(100);
  });
});

describe("redaction", () => {
  for (const name of [
    "authorization",
    "Authorization",
    "api_key",
    "apiKey",
    "apikey",
    "X-Api-Key",
    "token",
    "accessToken",
    "access_token",
    "secret",
    "signing_secret",
    "signingSecret",
    "secrets",
    "password",
    "db_password",
    "PASSWORD",
    "private-key",
    "cookie",
    "set-cookie",
    "credentials",
  ]) {
    it(`treats a field named ${name} as a secret`, () => expect(isSecretName(name)).to.equal(true));
  }

  for (const name of [
    "key",
    "keyId",
    "idempotencyKey",
    "tokens",
    "author",
    "secretary",
    "jobId",
    "prompt",
    "monkey",
    "passage",
  ]) {
    it(`does not treat a field named ${name} as a secret`, () => expect(isSecretName(name)).to.equal(false));
  }

  it("masks secrets at every depth, in lists and under maps, and whole objects under a secret's name", () => {
    const value = {
      request: { headers: [{ authorization: "Bearer abcdefgh" }], settings: new Map([["apiKey", "k"]]) },
      secrets: { a: "b", list: ["c"] },
      token: 12345,
    };
    expect(redact(value)).to.deep.equal({
      request: { headers: [{ authorization: "[redacted]" }], settings: { apiKey: "[redacted]" } },
      secrets: "[redacted]",
      token: "[redacted]",
    });
  });

  it("shows whether a secret is set", () => {
    const value = { token: null, secret: undefined, password: true };
    expect(redact(value)).to.deep.equal(value);
  });

  it("does not change its input", () => {
    const value = { nested: { token: "t" }, list: [TOKEN] };
    redact(value);
    expect(value).to.deep.equal({ nested: { token: "t" }, list: [TOKEN] });
  });

  const TEXTS: readonly (readonly [string, string])[] = [
    [`key ${TOKEN} was used`, "key frm_[redacted] was used"],
    [`"${TOKEN}","${TOKEN}"`, '"frm_[redacted]","frm_[redacted]"'],
    ["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD=", "whsec_[redacted]"],
    ["authorization: Bearer abc.def-ghi", "authorization: Bearer [redacted]"],
    ["Basic dXNlcjpwYXNz!", "Basic [redacted]!"],
    ["connect mysql://root:p%40ss@db:3306/fermata failed", "connect mysql://[redacted]@db:3306/fermata failed"],
    ["https://user@example.com/", "https://[redacted]@example.com/"],
    ["GET https://a.example/x?a=1&signature=abc&b=2", "GET https://a.example/x?a=1&signature=[redacted]&b=2"],
    [
      "https://a.example/?X-Amz-Credential=q&X-Amz-Signature=s",
      "https://a.example/?X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]",
    ],
    ["https://a.example/?access_token=abc#top", "https://a.example/?access_token=[redacted]#top"],
  ];
  for (const [given, expected] of TEXTS) {
    it(`returns ${JSON.stringify(expected)}`, () => expect(redactText(given)).to.equal(expected));
  }

  for (const text of [
    "https://example.com/a@b",
    "mail someone@example.com",
    "the bearer of bad news",
    "frm_short",
    "http://127.0.0.1:8080/?page=2&monkey=1",
    "a basic beat",
  ]) {
    it(`does not change ${JSON.stringify(text)}`, () => expect(redactText(text)).to.equal(text));
  }

  it("includes causes and members of errors, masked, without driver objects", () => {
    const cause = Object.assign(new Error("connect mysql://root:pw@db/x"), {
      code: "ECONNREFUSED",
      sql: "select 'hunter2'",
    });
    const many = new AggregateError([new Error(`one ${TOKEN}`), cause], "several");
    const written = redact(new Error("outer", { cause: many })) as {
      message: string;
      cause: { errors: Record<string, unknown>[] };
    };
    expect(written.message).to.equal("outer");
    expect(written.cause.errors.map(({ message }) => message)).to.deep.equal([
      "one frm_[redacted]",
      "connect mysql://[redacted]@db/x",
    ]);
    expect(written.cause.errors[1]).to.include({ code: "ECONNREFUSED" }).and.not.have.property("sql");
    expect(JSON.stringify(written)).to.not.include("hunter2").and.not.include("root:pw").and.not.include(TOKEN);
  });

  it("stops at cycles, in errors too, and at great depth", () => {
    const error = new Error("round");
    error.cause = error;
    expect(redact(error)).to.have.property("cause", "[circular]");
    let deep: object = { secret: "s" };
    for (let level = 0; level < 50; level++) deep = { deep };
    expect(JSON.stringify(redact(deep))).to.include("[deeper]");
  });

  it("shows an object twice when it occurs twice", () => {
    const shared = { a: 1 };
    expect(redact({ one: shared, two: shared })).to.deep.equal({ one: { a: 1 }, two: { a: 1 } });
  });

  it("handles getters that throw", () => {
    const value = Object.defineProperty({}, "bad", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    expect(redact(value)).to.deep.equal({ bad: "[unreadable]" });
  });
});

describe("SharedMetricsPage", () => {
  let now: number;
  let rendered: number;
  let page: SharedMetricsPage;
  beforeEach(() => {
    [now, rendered] = [0, 0];
    page = open(() => Promise.resolve(`figures ${++rendered}`));
  });

  const open = (text: () => Promise<string>): SharedMetricsPage =>
    new SharedMetricsPage({ contentType: "text/plain", text }, () => now);

  it("renders at most once a second, however many clients read", async () => {
    const texts = [await page.text(), ...(await Promise.all([page.text(), page.text()]))];
    now = 999;
    texts.push(await page.text());
    expect(new Set(texts)).to.deep.equal(new Set(["figures 1"]));
    now = 1_000;
    expect(await page.text()).to.equal("figures 2");
  });

  it("shares a rendering that takes longer than a second", async () => {
    const renderings: ((text: string) => void)[] = [];
    const slow = open(() => new Promise((resolve) => renderings.push(resolve)));
    const first = slow.text();
    now = 5_000;
    const second = slow.text();
    renderings[0]?.("figures");
    expect([await first, await second, renderings.length]).to.deep.equal(["figures", "figures", 1]);
  });

  it("renders again after a failure", async () => {
    const outcomes = [Promise.reject(new Error("away")), Promise.resolve("figures")];
    const failing = open(() => outcomes.shift() as Promise<string>);
    expect(await failing.text().catch((error: Error) => error.message)).to.equal("away");
    expect(await failing.text()).to.equal("figures");
  });
});

describe("PrometheusMetrics", () => {
  const open = (logger = new RecordingLogger()): PrometheusMetrics =>
    new PrometheusMetrics(logger, { processMetrics: false });

  it("counts requests and their time by method, route and status", async () => {
    const metrics = open();
    metrics.countRequest({ method: "GET", route: "/api/v1/jobs/{id}", status: 200 }, 0.02);
    metrics.countRequest({ method: "GET", route: "/api/v1/jobs/{id}", status: 200 }, 3);
    const text = await metrics.text();
    const labels = 'method="GET",route="/api/v1/jobs/{id}",status="200"';
    expect(text).to.include(`fermata_http_request_seconds_count{${labels}} 2`);
    expect(text).to.include(`fermata_http_request_seconds_bucket{le="0.025",${labels}} 1`);
    expect(text).to.include(`fermata_http_request_seconds_sum{${labels}} 3.02`);
  });

  it("counts jobs that ended", async () => {
    const metrics = open();
    for (let job = 0; job < 3; job++) metrics.countJobEnded({ ...A_JOB, seconds: 40 + job });
    metrics.countJobEnded({ ...A_JOB, status: "failed", seconds: 9, queueSeconds: null, renderSeconds: null });
    const text = await metrics.text();
    for (const line of [
      'fermata_jobs_ended_total{status="completed",operation="music_synth_full",provider="synth"} 3',
      'fermata_job_seconds_sum{provider="synth",model="synth/song",status="completed"} 123',
      'fermata_job_seconds_count{provider="synth",model="synth/song",status="failed"} 1',
      'fermata_job_queue_seconds_sum{provider="synth"} 6',
      'fermata_render_seconds_sum{provider="synth",model="synth/song"} 90',
    ]) {
      expect(text).to.include(`${line}\n`);
    }
  });

  it("counts calls of providers, their errors by kind, and the groups of lanes", async () => {
    const metrics = open();
    metrics.countProviderCall({ provider: "fal", call: "submit", error: null }, 2);
    metrics.countProviderCall({ provider: "fal", call: "submit", error: "rate_limited" }, 1);
    metrics.countGroup("accept", [0.5, 0.25, 0]);
    const text = await metrics.text();
    for (const line of [
      'fermata_provider_call_seconds_count{provider="fal",call="submit"} 2',
      'fermata_provider_call_seconds_sum{provider="fal",call="submit"} 3',
      'fermata_provider_errors_total{provider="fal",call="submit",kind="rate_limited"} 1',
      'fermata_lane_group_size_sum{lane="accept"} 3',
      'fermata_lane_wait_seconds_sum{lane="accept"} 0.75',
      'fermata_lane_wait_seconds_count{lane="accept"} 3',
    ]) {
      expect(text).to.include(`${line}\n`);
    }
  });

  it("counts attempts that were bought, delivered and wasted, of each provider and for each reason", async () => {
    const metrics = open();
    for (const provider of ["fal", "fal", "fal", "synth"]) metrics.countAttempt({ became: "bought", provider });
    metrics.countAttempt({ became: "delivered", provider: "fal" });
    for (const reason of ["deadline", "late"]) metrics.countAttempt({ became: "wasted", provider: "fal", reason });
    const text = await metrics.text();
    for (const line of [
      'fermata_attempts_bought_total{provider="fal"} 3',
      'fermata_attempts_bought_total{provider="synth"} 1',
      'fermata_attempts_delivered_total{provider="fal"} 1',
      'fermata_attempts_delivered_total{provider="synth"} 0',
      'fermata_attempts_wasted_total{provider="fal",reason="deadline"} 1',
      'fermata_attempts_wasted_total{provider="fal",reason="late"} 1',
      'fermata_attempts_wasted_total{provider="fal",reason="files_lost"} 0',
    ]) {
      expect(text).to.include(`${line}\n`);
    }
  });

  it("counts webhook delivery attempts by outcome, warnings, and disabled endpoints", async () => {
    const metrics = open();
    metrics.countDeliveryAttempt("delivered", 0.02);
    metrics.countDeliveryAttempt("timeout", 15);
    metrics.countDeliveryEnded("exhausted");
    metrics.countEndpointWarning(24);
    metrics.countEndpointDisabled("gone");
    const text = await metrics.text();
    expect(text)
      .to.include('fermata_webhook_try_seconds_count{outcome="delivered"} 1')
      .and.include('fermata_webhook_try_seconds_sum{outcome="timeout"} 15');
    expect(text).to.include('fermata_webhook_deliveries_ended_total{outcome="exhausted"} 1');
    expect(text).to.include('fermata_webhook_endpoint_warnings_total{failing_hours="24"} 1');
    expect(text).to.include('fermata_webhook_endpoints_disabled_total{by="gone"} 1');
  });

  it("reads gauges at every scrape, with and without labels", async () => {
    const metrics = open();
    let waiting = 1;
    metrics.gauge({ name: "jobs_waiting", help: "Jobs without a worker" }, () => waiting);
    metrics.gauge({ name: "breakers_open", help: "Open breakers", labels: ["provider"] }, async () => [
      { labels: { provider: "synth" }, value: 1 },
    ]);
    expect(await metrics.text())
      .to.match(/^fermata_jobs_waiting 1$/m)
      .and.match(/^fermata_breakers_open\{provider="synth"\} 1$/m);
    waiting = 2;
    expect(await metrics.text()).to.match(/^fermata_jobs_waiting 2$/m);
  });

  it("omits a gauge that cannot be read, and shows the others", async () => {
    const logger = new RecordingLogger();
    const metrics = open(logger);
    metrics.gauge({ name: "broken", help: "Unavailable" }, () => Promise.reject(new Error("storage is away")));
    metrics.gauge({ name: "broken_too", help: "Unavailable", labels: ["provider"] }, () => Promise.reject(new Error()));
    metrics.gauge({ name: "unknown", help: "Not known yet" }, () => []);
    metrics.gauge({ name: "fine", help: "In reach" }, () => 7);
    const text = await metrics.text();
    expect(text)
      .to.match(/^fermata_fine 7$/m)
      .and.not.match(/^fermata_(broken|broken_too|unknown)\b/m);
    expect(logger.lines.map(({ message, fields }) => [message, fields["gauge"]])).to.deep.equal([
      ["A gauge could not be read", "broken"],
      ["A gauge could not be read", "broken_too"],
    ]);
  });

  it("separates the metrics of two apps in one process", async () => {
    const [one, two] = [open(), open()];
    one.countJobEnded(A_JOB);
    expect(await two.text()).to.not.include("music_synth_full");
  });

  it("prefixes all metrics with fermata_, and adds those of the process on request", async () => {
    const names = (text: string): string[] => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string);
    expect(names(await open().text())).to.satisfy((all: string[]) => all.every((name) => name.startsWith("fermata_")));
    const full = new PrometheusMetrics(new RecordingLogger(), { processMetrics: true });
    expect(names(await full.text())).to.include("process_resident_memory_bytes");
    expect(full.contentType).to.include("text/plain");
  });
});
