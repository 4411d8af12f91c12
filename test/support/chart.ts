import type { Container, PodSpec, Probe } from "kubernetes-types/core/v1.js";
import { loadSettings } from "../../config/load.js";
import type { Settings } from "../../config/settings.js";
import type { Manifest, Values } from "./helm.js";

export type Labels = Readonly<Record<string, string>>;

/** For values from the operator: long enough for a key, and valid in a URL. */
export const SAMPLE = "sample-".repeat(6);

/** What an operator gives at the least for separate pods of `serve` and `work`. */
export const CLUSTER: Values = {
  mode: "cluster",
  publicUrl: "https://music.example.com",
  persistence: { accessMode: "ReadWriteMany" },
  secrets: {
    env: {
      FERMATA_STORAGE__URL: `mysql://fermata:${SAMPLE}@mysql:3306/fermata`,
      FERMATA_QUEUE__URL: `amqp://fermata:${SAMPLE}@rabbitmq:5672`,
      FERMATA_SECRETS__KEY: SAMPLE,
    },
  },
};

/** Everything that is off by default, and a bucket in place of a volume. */
export const EVERYTHING: Values = {
  ...CLUSTER,
  image: {
    repository: "registry.example.com/fermata",
    digest: `sha256:${"0".repeat(64)}`,
    pullSecrets: [{ name: "r" }],
  },
  settings: {
    audio: { url: "s3://fermata-audio/files?region=eu-central-1" },
    http: { trustProxy: 1 },
    jobs: { drainSeconds: 900 },
  },
  persistence: { enabled: false },
  serve: { autoscaling: { enabled: true } },
  ingress: {
    enabled: true,
    className: "nginx",
    annotations: { a: "b" },
    hosts: ["music.example.com"],
    tls: [{ secretName: "music-tls", hosts: ["music.example.com"] }],
  },
  admin: { enabled: true },
  metrics: { serviceMonitor: { enabled: true, labels: { team: "music" } } },
  networkPolicy: {
    enabled: true,
    httpFrom: [{ namespaceSelector: { matchLabels: { name: "ingress" } } }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: "monitoring" } } }],
    adminFrom: [{ podSelector: { matchLabels: { name: "desk" } } }],
  },
  serviceAccount: { annotations: { "example.com/role": "audio" } },
  podAnnotations: { a: "b" },
  podLabels: { team: "music" },
  nodeSelector: { disk: "fast" },
  tolerations: [{ key: "music", operator: "Exists" }],
  affinity: { nodeAffinity: {} },
  priorityClassName: "high",
  extraEnv: [{ name: "FERMATA_PLUGINS_DIR", value: "/plugins" }],
  extraVolumes: [{ name: "plugins", persistentVolumeClaim: { claimName: "plugins" } }],
  extraVolumeMounts: [{ name: "plugins", mountPath: "/plugins", readOnly: true }],
};

/** A pod that the chart makes, by the command that it runs. */
export interface Pod {
  readonly command: string;
  readonly labels: Labels;
  readonly spec: PodSpec;
  readonly container: Container;
}

/** What is in a pod's template, or in a manifest that is a pod itself. */
interface PodTemplate {
  readonly metadata?: { readonly labels?: Labels };
  readonly spec: PodSpec;
}

export function podsOf(manifests: readonly Manifest[]): Pod[] {
  return manifests.flatMap((manifest): Pod[] => {
    const template = templateOf(manifest);
    const [container] = template?.spec.containers ?? [];
    if (template === null || container === undefined) return [];
    const command = (container.args ?? []).join(" ");
    return [{ command, labels: template.metadata?.labels ?? {}, spec: template.spec, container }];
  });
}

function templateOf(manifest: Manifest): PodTemplate | null {
  if (manifest.kind === "Pod") return manifest as unknown as PodTemplate;
  if (manifest.kind !== "Deployment" && manifest.kind !== "Job") return null;
  return (manifest["spec"] as { readonly template: PodTemplate }).template;
}

/** One manifest of this kind and name. */
export function theOne(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} of ${kind} ${name}`);
  return found[0];
}

/** The settings with which a pod starts: those of its ConfigMap, its environment, and of the Secret that it names. */
export function settingsOf(pod: Pod, manifests: readonly Manifest[]): Settings {
  const given = (pod.container.env ?? []).map(({ name, value }) => [name, value ?? ""]);
  const secrets = (pod.container.envFrom ?? []).map(({ secretRef }) => {
    const secret = theOne(manifests, "Secret", secretRef?.name ?? "");
    return secret["stringData"] as Record<string, string>;
  });
  const map = pod.spec.volumes?.find(({ name }) => name === "config")?.configMap?.name ?? "";
  const { "fermata.yaml": file = "" } = theOne(manifests, "ConfigMap", map)["data"] as Record<string, string>;
  const env = Object.assign({}, Object.fromEntries(given), ...secrets) as Record<string, string>;
  const mounted = pod.container.volumeMounts?.find(({ name }) => name === "config")?.mountPath;
  if (env["FERMATA_CONFIG"] !== `${mounted}/fermata.yaml`) throw new Error("FERMATA_CONFIG names another file");
  return loadSettings({ env, cwd: "/", readFile: () => file, isTerminal: false });
}

/** Whether every label of a selector is on the pod. */
export function selects(selector: Labels, pod: Pod): boolean {
  return Object.entries(selector).every(([name, value]) => pod.labels[name] === value);
}

export function probesOf({ container }: Pod): Probe[] {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  return [startupProbe, livenessProbe, readinessProbe].filter((probe) => probe !== undefined);
}
