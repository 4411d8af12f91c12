import ts from "typescript";
import { memberTypes, parseSource, portSources } from "../port-docs.js";

/** Ports besides the stores, by the names that a {@link Boundary} gives them. */
const OTHER_PORTS = {
  leaseRenewal: "LeaseRenewal",
  queue: "JobQueue",
  audio: "AudioStore",
  webhookSender: "WebhookSender",
  provider: "MusicProvider",
} as const;

/** Every call of every port, as its interface declares it: `jobs.updateJobs`. */
export function portCalls(): string[] {
  const interfaces = new Map(
    portSources()
      .flatMap(({ statements }) => [...statements])
      .filter(ts.isInterfaceDeclaration)
      .map((declared) => [declared.name.text, declared]),
  );
  const stores = memberTypes(parseSource("core", "ports", "stores.ts"), "Stores");
  const ports = [...stores, ...Object.entries(OTHER_PORTS)];
  const calls = ports.flatMap(([name, type]) => methodsOf(type, interfaces).map((method) => `${name}.${method}`));
  // The work of a transaction is given to it.
  return [...calls, "unitOfWork.work"].sort();
}

function methodsOf(type: string, interfaces: ReadonlyMap<string, ts.InterfaceDeclaration>): string[] {
  const declared = interfaces.get(type);
  if (declared === undefined) throw new Error(`There is no port ${type}.`);
  const inherited = (declared.heritageClauses ?? []).flatMap(({ types }) =>
    types.flatMap(({ expression }) => methodsOf(expression.getText(), interfaces)),
  );
  const own = declared.members.filter(
    (member) =>
      ts.isMethodSignature(member) ||
      (ts.isPropertySignature(member) && member.type !== undefined && ts.isFunctionTypeNode(member.type)),
  );
  return [...inherited, ...own.map((member) => member.name?.getText() ?? "")];
}
