/** Checks manifests against the types of Kubernetes' API: unknown fields, missing ones, and values of another type. */
import { join } from "node:path";
import ts from "typescript";
import type { Manifest } from "./helm.js";
import { REPOSITORY } from "./repository.js";

/** Every kind that the chart may render, with the module of `kubernetes-types` that describes it. */
const MODULES: Readonly<Record<string, string>> = {
  "apps/v1": "apps/v1",
  "autoscaling/v2": "autoscaling/v2",
  "batch/v1": "batch/v1",
  "networking.k8s.io/v1": "networking/v1",
  "policy/v1": "policy/v1",
  v1: "core/v1",
};

/** Not Kubernetes' own: what the chart uses of the Prometheus operator's API, `monitoring.coreos.com/v1`. */
const SERVICE_MONITOR = `interface ServiceMonitor {
  apiVersion: "monitoring.coreos.com/v1"; kind: "ServiceMonitor";
  metadata: import("kubernetes-types/meta/v1").ObjectMeta;
  spec: { selector: import("kubernetes-types/meta/v1").LabelSelector;
    endpoints: { port: string; path: string; interval: string }[] };
}`;

/** @returns what TypeScript says about the manifests, each message with the kind and the name of its manifest */
export function typeErrorsIn(manifests: readonly Manifest[]): string[] {
  const lines = manifests.map((manifest, index) => {
    const { apiVersion, kind } = manifest;
    const module = MODULES[apiVersion];
    const type = module === undefined ? kind : `import("kubernetes-types/${module}").${kind}`;
    return `export const m${index}: ${type} = ${JSON.stringify(manifest)};`;
  });
  const name = join(REPOSITORY, "manifests.ts");
  // Each manifest has a line of its own.
  const text = [...lines, SERVICE_MONITOR].join("\n");
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    types: [],
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (file, ...rest) =>
    file === name ? ts.createSourceFile(file, text, options.target ?? 0) : getSourceFile(file, ...rest);
  const program = ts.createProgram([name], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = file?.getLineAndCharacterOfPosition(start).line ?? -1;
    const { kind, metadata } = manifests[line] ?? { kind: "?", metadata: { name: file?.fileName ?? "?" } };
    return `${kind} ${metadata.name}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
}
