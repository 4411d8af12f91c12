/**
 * The software bill of materials of the package, a CycloneDX document: what is installed for production by npm's
 * reckoning, and what some packages contain without declaring it. The same sources give the same bytes. As a program it
 * writes it to stdout: `npm run -s sbom`.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { repositoryPath } from "./repository.js";
import { INCLUDED, productionPackages } from "./third-party-notices.js";

interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly [member: string]: unknown;
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn?: readonly string[];
}

interface Sbom {
  readonly metadata: { readonly timestamp?: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
  readonly serialNumber?: string;
  readonly [member: string]: unknown;
}

/** @throws {Error} when npm cannot read package-lock.json */
export async function sbom(): Promise<string> {
  // npm's own `--omit dev` leaves out, too, what both production and development need: express, for one.
  const args = ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application", "--package-lock-only"];
  const { stdout } = await promisify(execFile)("npm", args, { cwd: repositoryPath(), maxBuffer: 16 * 1024 * 1024 });
  // The time and the random number would make two documents of one tree differ; both are optional.
  const { serialNumber: _serial, metadata, components, dependencies, ...document } = JSON.parse(stdout) as Sbom;
  const { timestamp: _now, component, ...about } = metadata;
  const { name } = JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as { readonly name: string };
  const installed = new Set(productionPackages().map(({ name: own, version }) => `${own}@${version}`));
  const shipped = components.filter((one) => installed.has(one["bom-ref"]));
  const refs = new Set([component, ...shipped].map((one) => one["bom-ref"]));
  return `${JSON.stringify(
    {
      ...document,
      // npm takes the name of the folder.
      metadata: { ...about, component: { ...component, name } },
      components: [...shipped, ...INCLUDED.map(includedComponent)],
      dependencies: dependencies
        .filter(({ ref }) => refs.has(ref))
        .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
    },
    null,
    2,
  )}\n`;
}

function includedComponent([title, where, licence, source]: (typeof INCLUDED)[number]): Component {
  const name = title.split(",")[0] ?? title;
  const id = /(?:LGPL|BSD)-[\d.]+(?:-[\w]+)*/.exec(licence)?.[0];
  return {
    "bom-ref": `included:${name}`,
    type: "library",
    name,
    scope: "optional",
    description: `Contained in ${where.replaceAll("`", "")}`,
    licenses: [{ license: id === undefined ? { name: licence } : { id } }],
    externalReferences: [...source.matchAll(/<([^>]+)>/g)].map(([, url]) => ({ type: "website", url })),
  };
}

if (process.argv[1] !== undefined && import.meta.url.endsWith(`/${process.argv[1].split("/").at(-1)}`))
  process.stdout.write(await sbom());
