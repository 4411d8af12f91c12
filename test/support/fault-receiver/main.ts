/**
 * A faulty webhook receiver, to be run by hand against any sender:
 *
 * node dist/test/support/fault-receiver/main.js [--port 8443] [--host 127.0.0.1] [--fault drip] [--certificate expired]
 * [--name receiver] [--secret whsec_…]
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { FAULTS } from "./faults.js";
import { CERTIFICATES, type CertificateKind, FaultReceiver, type ReceivedRequest } from "./receiver.js";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "8443" },
    host: { type: "string", default: "127.0.0.1" },
    fault: { type: "string" },
    certificate: { type: "string" },
    name: { type: "string", multiple: true },
    secret: { type: "string" },
  },
});

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

try {
  const { receiver, directory } = await start();
  receiver.onRequest((request) => say(lineOf(request)));
  const stop = (): Promise<unknown> => Promise.all([receiver.close(), rm(directory, { recursive: true, force: true })]);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}

async function start(): Promise<{ readonly receiver: FaultReceiver; readonly directory: string }> {
  const { port, host, fault, certificate, name, secret } = values;
  if (!/^\d{1,5}$/.test(port)) throw new Error(`--port ${port}: a number from 0 to 65531.`);
  if (certificate !== undefined && !isCertificate(certificate))
    throw new Error(`--certificate ${certificate}: one of ${CERTIFICATES.join(", ")}.`);
  const receiver = await FaultReceiver.open({
    port: Number(port),
    host,
    ...(fault === undefined ? {} : { fault }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(name === undefined ? {} : { names: name }),
    ...(secret === undefined ? {} : { secret }),
  });
  const directory = await mkdtemp(join(tmpdir(), "fermata-fault-receiver-"));
  const ca = join(directory, "ca.pem");
  await writeFile(ca, receiver.ca);
  say(`listening on ${receiver.url("/")}`);
  say(
    `other ports: ${receiver.portOf("http")} plain HTTP, ${receiver.portOf("garbage")} no TLS, ` +
      `${receiver.portOf("mute")} silence, ${receiver.portOf("old-tls")} TLS 1.1`,
  );
  say(
    `certificates by host name: ${CERTIFICATES.slice(1)
      .map((kind) => `${kind}.localhost`)
      .join(", ")}; any other is valid`,
  );
  say(`its authority, created at every start: ${ca}`);
  say(`  trust it: NODE_EXTRA_CA_CERTS=${ca} for Node.js, curl --cacert ${ca} …`);
  say("faults by path:");
  for (const [path, { does }] of Object.entries(FAULTS)) say(`  /${path.padEnd(13)}${does}`);
  return { receiver, directory };
}

function isCertificate(kind: string): kind is CertificateKind {
  return (CERTIFICATES as readonly string[]).includes(kind);
}

function lineOf({ method, path, headers, body, at, isVerified }: ReceivedRequest): string {
  const id = headers["webhook-id"];
  const signature = isVerified === null ? "" : isVerified ? ", signature valid" : ", SIGNATURE WRONG";
  return (
    `${new Date(at).toISOString()} ${method} ${path} ${body.length} ` +
    `bytes${id === undefined ? "" : `, ${String(id)}`}${signature}`
  );
}
