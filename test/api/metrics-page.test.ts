import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parse } from "yaml";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import { submitCompletes } from "../support/doubles/scripted-provider.js";
import { RecordingSender } from "../support/doubles/recording-sender.js";
import { eventually } from "../support/process.js";
import { repositoryPath } from "../support/repository.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const ALERTS = "config/observability/alerts.yaml";
const DASHBOARD = "config/observability/grafana-dashboard.json";

/** A metric as the page shows it. */
interface Shown {
  readonly type: string;
  readonly help: string;
  /** null: it has no samples. */
  readonly labels: readonly string[] | null;
}

/** What has no samples while all goes well. */
const SILENT_METRICS = ["fermata_webhook_endpoint_warnings_total", "fermata_webhook_endpoints_disabled_total"];
/** Labels that Prometheus and histograms add. */
const ADDED_LABELS = ["le", "job", "instance"];

describe("The page of metrics", function () {
  this.timeout(60_000);

  let test: TestApp;
  let page: ReadonlyMap<string, Shown>;
  before(async () => {
    test = await startTestApp({ work: true, webhookSender: new RecordingSender() });
    const { account, api } = await test.account();
    await test.app.webhooks.endpoints.create(account.id, "https://93.184.215.14/hook");
    test.provider.behaviour = submitCompletes;
    await api.generate(undefined, { Prefer: "wait=20" });
    test.provider.behaviour = () => Promise.reject(new ProviderFailure("failed", "it broke", { billable: "yes" }));
    await api.generate(undefined, { Prefer: "wait=20" });
    page = await eventually("deliveries and the watch of the ledger are on the page", async () => {
      const { text } = await test.anonymous.get("/metrics");
      const isWhole = /^fermata_webhook_deliveries_ended_total\{/m.test(text) && /^fermata_ledger_round_/m.test(text);
      return isWhole && parsePage(text);
    });
  });
  after(() => test.close());

  it("is what config/README.md says: every metric of Fermata, its type, labels and meaning", () => {
    const rows = readFileSync(repositoryPath("config/README.md"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("| `fermata_"));
    const shown = [...page].filter(([name]) => name.startsWith("fermata_"));
    const undocumented = shown.map(([name, { type, help }]) => `| \`${name}\` | ${type} | … | ${help} |`).sort();
    expect(rows.map((row) => row.replace(/^(\|[^|]*\|[^|]*\|)[^|]*\|/, "$1 … |"))).to.deep.equal(undocumented);
    for (const [name, { labels }] of shown) {
      if (labels !== null) expect(labelsOf(rows, name), name).to.deep.equal(labels);
    }
    expect(shown.flatMap(([name, { labels }]) => (labels === null ? [name] : [])).sort()).to.deep.equal(SILENT_METRICS);
  });

  it("follows the conventions of Prometheus: counters end in _total, times are in seconds", () => {
    for (const [name, { type }] of page) {
      if (!name.startsWith("fermata_")) continue;
      expect(name.endsWith("_total"), name).to.equal(type === "counter");
      expect(name)
        .to.match(/^fermata_[a-z]+(_[a-z]+)*$/)
        .and.not.match(/_(ms|millis|minutes)\b/);
    }
  });

  it("has every metric that the alert rules name, with the labels that they select by", () => {
    const { groups } = parse(readFileSync(repositoryPath(ALERTS), "utf8")) as {
      readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
    };
    const rules = groups.flatMap(({ rules: list }) => list);
    expect(new Set(rules.map(({ alert }) => alert)).size)
      .to.equal(rules.length)
      .and.to.be.above(10);
    for (const rule of rules) {
      expect(rule.alert).to.match(/^Fermata[A-Z][A-Za-z]+$/);
      expect(rule.labels.severity).to.match(/^(critical|warning)$/);
      expect([rule.annotations.summary, rule.annotations.description]).to.not.include.members([undefined]);
      expect(rule.for ?? "1m").to.match(/^\d+[smh]$/);
      expectKnown(rule.expr, rule.alert);
    }
  });

  it("is what promtool accepts the alert rules for, where promtool is installed", () => {
    const { error, status, stdout, stderr } = spawnSync("promtool", ["check", "rules", repositoryPath(ALERTS)]);
    const isInstalled = error === undefined;
    expect(isInstalled ? status : 0, `${String(stdout)}${String(stderr)}`).to.equal(0);
  });

  it("has every metric that the Grafana dashboard shows", () => {
    const dashboard = JSON.parse(readFileSync(repositoryPath(DASHBOARD), "utf8")) as Dashboard;
    const panels = dashboard.panels.filter(({ type }) => type !== "row");
    expect(panels.length).to.be.above(20);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).to.equal(dashboard.panels.length);
    for (const { title, targets = [], datasource } of panels) {
      expect(targets, title).to.not.deep.equal([]);
      expect(datasource?.uid, title).to.equal("${datasource}");
      for (const { expr } of targets) expectKnown(expr, title);
    }
    const shown = panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr)));
    const all = [...page.keys()].filter((name) => name.startsWith("fermata_"));
    expect(all.filter((name) => !shown.includes(name))).to.deep.equal(["fermata_storage_connections"]);
  });

  function expectKnown(expression: string, where: string): void {
    const names = metricsIn(expression);
    expect(names, where).to.not.deep.equal([]);
    for (const name of names) expect([...page.keys()], where).to.include(name);
    const known = new Set([...ADDED_LABELS, ...names.flatMap((name) => labelsByReadme(name))]);
    for (const label of labelsIn(expression)) expect([...known], `${where}: ${label}`).to.include(label);
  }

  /** By the name of a metric, or of what a histogram has. */
  function metricsIn(expression: string): string[] {
    const names = expression.match(/\b(fermata|nodejs|process)_[a-z0-9_]+/g) ?? [];
    return names.map((name) => {
      const base = name.replace(/_(bucket|sum|count)$/, "");
      return page.get(base)?.type === "histogram" ? base : name;
    });
  }
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary?: string; readonly description?: string };
}

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly datasource?: { readonly uid: string };
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

function labelsIn(expression: string): string[] {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
  const selected = [...expression.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = ""]) =>
    [...list.matchAll(/(\w+)\s*[=!]/g)].map(([, label = ""]) => label),
  );
  return [...grouped, ...selected];
}

function labelsByReadme(name: string): string[] {
  const rows = readFileSync(repositoryPath("config/README.md"), "utf8").split("\n");
  return name.startsWith("fermata_") ? labelsOf(rows, name) : [];
}

/** From the third cell of the metric's row. */
function labelsOf(rows: readonly string[], name: string): string[] {
  const row = rows.find((line) => line.startsWith(`| \`${name}\` |`)) ?? "";
  return [...(row.split("|")[3] ?? "").matchAll(/`(\w+)`/g)].map(([, label = ""]) => label).sort();
}

function parsePage(text: string): ReadonlyMap<string, Shown> {
  const types = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)];
  return new Map(
    types.map(([, name = "", type = ""]) => {
      const help = new RegExp(`^# HELP ${name} (.+)$`, "m").exec(text)?.[1] ?? "";
      const ends = type === "histogram" ? "(?:_bucket|_sum|_count)" : "";
      const samples = [...text.matchAll(new RegExp(`^${name}${ends}(\\{.*\\})? \\S+$`, "gm"))];
      const labels = samples.flatMap(([, list = ""]) => [...list.matchAll(/(\w+)="/g)].map(([, label = ""]) => label));
      const own = [...new Set(labels)].filter((label) => label !== "le").sort();
      return [name, { type, help, labels: samples.length === 0 ? null : own }];
    }),
  );
}
