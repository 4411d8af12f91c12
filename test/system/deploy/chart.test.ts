import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parse } from "yaml";
import { stopMaxMs } from "../../../config/stop-signal.js";
import {
  CLUSTER,
  EVERYTHING,
  type Labels,
  type Pod,
  podsOf,
  probesOf,
  SAMPLE,
  selects,
  settingsOf,
  theOne,
} from "../../support/chart.js";
import { refusalOf, wordsOf } from "../../support/command-line.js";
import { CHART, Helm, type Manifest, type Values } from "../../support/helm.js";
import { typeErrorsIn } from "../../support/kubernetes-types.js";
import { repositoryPath } from "../../support/repository.js";

const EXAMPLES: Readonly<Record<string, Values>> = {
  "as it is": {},
  "one pod without a volume": { persistence: { enabled: false }, metrics: { enabled: false } },
  "pods of serve and work": CLUSTER,
  everything: EVERYTHING,
};

interface Selecting {
  readonly selector: { readonly matchLabels: Labels };
}

describe("The chart config/helm", function () {
  this.timeout(120_000);
  let helm: Helm;
  const rendered = new Map<string, Manifest[]>();
  before(async () => {
    helm = await Helm.open();
    for (const [name, values] of Object.entries(EXAMPLES)) rendered.set(name, await helm.render(values));
  });
  const of = (name: string): Manifest[] => rendered.get(name) ?? [];

  for (const [name, values] of Object.entries(EXAMPLES)) {
    it(`has nothing that helm lint --strict reports: ${name}`, async () => {
      expect(await helm.lint(values)).to.include("1 chart(s) linted, 0 chart(s) failed");
    });

    it(`starts commands that exist, with settings that load: ${name}`, async () => {
      const manifests = of(name);
      for (const pod of podsOf(manifests)) {
        expect(await refusalOf([pod.command]), pod.command).to.equal(null);
        expect(settingsOf(pod, manifests).dataDir).to.equal("/var/lib/fermata/data");
      }
    });

    it(`gives every process enough time to stop: ${name}`, () => {
      const manifests = of(name);
      for (const pod of podsOf(manifests).filter(({ command }) => ["start", "serve", "work"].includes(command))) {
        const seconds = pod.spec.terminationGracePeriodSeconds ?? 0;
        const { jobs } = settingsOf(pod, manifests);
        const drainMs = pod.command === "serve" ? 0 : jobs.drainSeconds * 1000;
        const preStop = pod.container.lifecycle?.preStop?.exec?.command ?? ["sleep", "0"];
        expect(seconds, pod.command).to.be.greaterThan(stopMaxMs(drainMs) / 1000 + Number(preStop[1]));
      }
    });

    it(`runs without root, without a writable image, without rights and with limits: ${name}`, () => {
      for (const { command, spec, container } of podsOf(of(name))) {
        expect(spec, command).to.deep.include({ automountServiceAccountToken: false, enableServiceLinks: false });
        expect(spec.securityContext, command).to.deep.include({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
        expect(container.securityContext, command).to.deep.equal({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(container.resources?.limits?.["memory"], command).to.match(/^\d+Gi$/);
        const writable = container.volumeMounts?.filter(({ readOnly }) => readOnly !== true);
        expect(writable?.map(({ mountPath }) => mountPath)).to.deep.equal(["/var/lib/fermata", "/tmp"]);
      }
    });

    it(`selects pods that there are, by ports that they have: ${name}`, () => {
      const manifests = of(name);
      const pods = podsOf(manifests);
      for (const { kind, metadata, spec } of manifests.filter(({ kind }) => kind === "Service")) {
        const { selector, ports } = spec as { selector: Labels; ports: readonly { readonly targetPort: string }[] };
        const selected = pods.filter((pod) => selects(selector, pod));
        const running = pods.map(({ command }) => command).filter((command) => /^(start|serve|work)$/.test(command));
        const expected = metadata.name.endsWith("-metrics") ? running : running.slice(0, 1);
        expect(
          selected.map(({ command }) => command),
          `${kind} ${metadata.name}`,
        ).to.deep.equal(expected);
        for (const pod of selected) {
          const names = pod.container.ports?.map((port) => port.name);
          expect(names).to.include.members(ports.map(({ targetPort }) => targetPort));
        }
      }
      for (const { kind, metadata, spec } of manifests) {
        if (kind !== "Deployment" && kind !== "PodDisruptionBudget") continue;
        const selected = pods.filter((pod) => selects((spec as Selecting).selector.matchLabels, pod));
        expect(selected, `${kind} ${metadata.name}`).to.have.lengthOf(1);
      }
    });
  }

  it("renders only what Kubernetes' API has, by its types", () => {
    expect(typeErrorsIn([...rendered.values()].flat())).to.deep.equal([]);
    const [first, ...others] = of("everything");
    const misspelt = [{ ...(first as Manifest), metadata: { name: "a", label: {} } }, ...others] as Manifest[];
    expect(typeErrorsIn(misspelt)).to.have.lengthOf(1);
  });

  it("keeps the example values within values.schema.json, which knows no others than values.yaml", () => {
    const { properties } = JSON.parse(readFileSync(`${CHART}/values.schema.json`, "utf8")) as { properties: object };
    const values = parse(readFileSync(`${CHART}/values.yaml`, "utf8")) as object;
    expect(new Set(Object.keys(properties))).to.deep.equal(new Set(["global", ...Object.keys(values)]));
  });

  it("has the version of the package", () => {
    const { version } = JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as { version: string };
    expect(parse(readFileSync(`${CHART}/Chart.yaml`, "utf8"))).to.include({ version, appVersion: version });
  });

  it("takes the values of cluster.yaml, with a Secret that has every setting it names", async () => {
    const text = readFileSync(`${CHART}/cluster.yaml`, "utf8");
    const secret = /^# {5}--from-literal=(FERMATA_\w+)=([^ \n]+)/gm;
    const env = Object.fromEntries(
      [...text.matchAll(secret)].map(([, name = "", value = ""]) => [name, value.startsWith('"') ? SAMPLE : value]),
    );
    const manifests = await helm.render(parse(text) as Values, "fermata");
    expect(manifests.map(({ kind }) => kind))
      .to.include("Ingress")
      .and.not.include("PersistentVolumeClaim");
    const made = { kind: "Secret", metadata: { name: "fermata-secrets" }, stringData: env } as unknown as Manifest;
    const pods = podsOf(manifests);
    expect(pods.map(({ command }) => command)).to.include.members(["serve", "work"]);
    for (const pod of pods) {
      const { storage, queue, secrets } = settingsOf(pod, [...manifests, made]);
      expect([new URL(storage.url).hostname, new URL(queue.url).hostname]).to.deep.equal(["mysql", "rabbitmq"]);
      expect(secrets.key).to.equal(SAMPLE);
    }
  });

  it("runs SQLite in one pod that is never two", () => {
    const manifests = of("as it is");
    const [pod, ...others] = podsOf(manifests);
    expect([pod?.command, others.length]).to.deep.equal(["start", 0]);
    expect(theOne(manifests, "Deployment", "music-fermata")["spec"]).to.deep.include({
      replicas: 1,
      strategy: { type: "Recreate" },
    });
    expect(pod?.spec.volumes?.find(({ name }) => name === "data")).to.deep.include({
      persistentVolumeClaim: { claimName: "music-fermata" },
    });
  });

  it("serves links, metrics and counts for many pods", () => {
    const manifests = of("pods of serve and work");
    const serve = podsOf(manifests).find(({ command }) => command === "serve");
    const settings = settingsOf(serve as Pod, manifests);
    expect(settings.http).to.include({ host: "0.0.0.0", port: 8080, publicUrl: "https://music.example.com" });
    expect([settings.rateLimits.store, settings.demo.enabled]).to.deep.equal(["shared", false]);
    expect(settings.metrics).to.include({ host: "0.0.0.0", port: 9464 });
    expect(podsOf(manifests).map(({ command }) => command)).to.have.members(["serve", "work", "migrate", "doctor"]);
  });

  it("asks /healthz and /readyz of the pods that serve the API", () => {
    for (const name of Object.keys(EXAMPLES)) {
      for (const pod of podsOf(of(name))) {
        const paths = probesOf(pod).map(({ httpGet }) => `${httpGet?.path} ${httpGet?.port}`);
        const isServing = pod.command === "serve" || pod.command === "start";
        expect(paths).to.deep.equal(isServing ? ["/healthz http", "/healthz http", "/readyz http"] : []);
      }
    }
  });

  it("leads Prometheus, the ingress and the scaling to parts that there are", () => {
    const manifests = of("everything");
    const { selector } = theOne(manifests, "ServiceMonitor", "music-fermata")["spec"] as Selecting;
    const { labels = {} } = theOne(manifests, "Service", "music-fermata-metrics").metadata;
    expect(labels).to.include(selector.matchLabels);
    const [rule] = (theOne(manifests, "Ingress", "music-fermata")["spec"] as { rules: readonly object[] }).rules;
    expect(rule).to.deep.include({ host: "music.example.com" });
    expect(JSON.stringify(rule)).to.include('"service":{"name":"music-fermata","port":{"name":"http"}}');
    const { scaleTargetRef } = theOne(manifests, "HorizontalPodAutoscaler", "music-fermata-serve")["spec"] as {
      readonly scaleTargetRef: { readonly kind: string; readonly name: string };
    };
    const scaled = theOne(manifests, scaleTargetRef.kind, scaleTargetRef.name)["spec"] as {
      readonly replicas?: number;
    };
    expect(scaled.replicas).to.equal(undefined);
  });

  it("migrates before it installs, with settings and secrets that are there by then", () => {
    const manifests = of("pods of serve and work");
    const hooks = manifests.filter(({ metadata }) => metadata.name === "music-fermata-migrate");
    const order = hooks.map(({ kind, metadata }) => [kind, Number(metadata.annotations?.["helm.sh/hook-weight"])]);
    expect(order).to.have.deep.members([
      ["ConfigMap", -5],
      ["Secret", -5],
      ["Job", 0],
    ]);
    for (const { metadata } of hooks)
      expect(metadata.annotations?.["helm.sh/hook"]).to.equal("pre-install,pre-upgrade");
    const migrate = podsOf(manifests).find(({ command }) => command === "migrate");
    expect(migrate?.spec.serviceAccountName).to.equal("default");
    expect(settingsOf(migrate as Pod, manifests).storage.url).to.match(/^mysql:/);
  });

  it("has no secret outside of Secrets", () => {
    const others = of("pods of serve and work").filter(({ kind }) => kind !== "Secret");
    expect(JSON.stringify(others)).not.to.include("sample-");
  });

  it("says how the first key is had", async () => {
    const [embedded, cluster] = [await helm.notes({}), await helm.notes(CLUSTER)];
    expect(embedded).to.include("deploy/music-fermata -- cat /var/lib/fermata/data/demo.key");
    expect(embedded).to.include("port-forward --namespace studio service/music-fermata 8080:80");
    expect(cluster).to.include("deploy/music-fermata-serve -- \\\n");
    for (const notes of [embedded, cluster]) {
      const [, line = ""] = /^ +fermata (accounts create .+)$/m.exec(notes) ?? [];
      expect(await refusalOf(wordsOf(line)), line).to.equal(null);
    }
  });
});
