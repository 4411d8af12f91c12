import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { repositoryPath } from "./repository.js";

interface Entry {
  /** Of its declarations in the build. */
  readonly path: string;
  /** Whether types that it mentions and does not export are in its report too. */
  readonly isWhole: boolean;
}

/** The entries of the package, by the name of their report. The types of the others are in the first two. */
const ENTRIES: Readonly<Record<string, Entry>> = {
  "fermata-music": { path: "dist/config/index.d.ts", isWhole: true },
  provider: { path: "dist/plugins/sdk/index.d.ts", isWhole: true },
  client: { path: "dist/adapters/client/index.d.ts", isWhole: false },
  express: { path: "dist/adapters/http/index.d.ts", isWhole: false },
  testing: { path: "dist/test/index.d.ts", isWhole: false },
  "testing-contracts": { path: "dist/test/contracts.d.ts", isWhole: false },
};

/** Entries in `exports` of package.json that have a report. */
export const REPORTED = Object.values(ENTRIES).map(({ path }) => path);

/** Writes what each entry of the build declares. @returns text by the name of the file in `.api` */
export function apiReports(): ReadonlyMap<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "fermata-api-"));
  try {
    return new Map(
      Object.entries(ENTRIES).map(([name, entry]) => {
        const file = `${name}.api.md`;
        extract(entry, file, folder);
        return [file, withSortedUnions(readFileSync(join(folder, file), "utf8"))];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The compiler writes a union of texts in the order in which it met them, which an incremental build changes. */
function withSortedUnions(report: string): string {
  return report.replace(/"[^"\n]*"(?: \| "[^"\n]*")+/g, (union) => union.split(" | ").sort().join(" | "));
}

function extract({ path, isWhole }: Entry, reportFileName: string, folder: string): void {
  const silent = { default: { logLevel: ExtractorLogLevel.None } };
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: repositoryPath("package.json"),
    configObject: {
      projectFolder: repositoryPath(),
      mainEntryPointFilePath: repositoryPath(path),
      newlineKind: "lf",
      compiler: { overrideTsconfig: { compilerOptions: COMPILER_OPTIONS, files: [path] } },
      apiReport: {
        enabled: true,
        reportFileName,
        reportFolder: folder,
        reportTempFolder: join(folder, "temp"),
        includeForgottenExports: isWhole,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: silent,
        extractorMessageReporting: silent,
        tsdocMessageReporting: silent,
      },
    },
  });
  // It says on the console what it is; errors of the declarations are errors of the build before.
  const result = Extractor.invoke(config, { localBuild: true, messageCallback: (message) => (message.handled = true) });
  if (!result.succeeded) throw new Error(`${path}: the report has ${result.errorCount} errors`);
}

const COMPILER_OPTIONS = {
  target: "ES2023",
  lib: ["ES2023"],
  module: "NodeNext",
  moduleResolution: "NodeNext",
  skipLibCheck: true,
  types: ["node", "mocha"],
};
