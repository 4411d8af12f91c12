/** The TypeScript compiler inside of this process: packages that it has parsed serve for the next program too. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** By their paths. What lies in `node_modules` does not change while a process tests it. */
const parsed = new Map<string, ts.SourceFile>();

/** Compiles these files where they are. @returns what the compiler says, a line each: nothing when all is well */
export function compileFiles(folder: string, names: readonly string[], settings: object): string[] {
  const { options, errors } = ts.convertCompilerOptionsFromJson(settings, folder);
  const host = ts.createCompilerHost(options);
  host.getCurrentDirectory = () => folder;
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (path, ...rest) => {
    if (!path.includes("/node_modules/")) return parse(path, ...rest);
    const known = parsed.get(path) ?? parse(path, ...rest);
    if (known !== undefined) parsed.set(path, known);
    return known;
  };
  const roots = names.map((name) => join(folder, name));
  const program = ts.createProgram(roots, options, host);
  const found = [...errors, ...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  return ts
    .formatDiagnostics(found, host)
    .split("\n")
    .filter((line) => line !== "");
}

/** The sources of a folder, without those of folders in it. */
export function sourcesIn(folder: string, name: string): string[] {
  const sources = readdirSync(join(folder, name)).filter((file) => /(?<!\.d)\.ts$/.test(file));
  return sources.map((file) => join(name, file));
}
