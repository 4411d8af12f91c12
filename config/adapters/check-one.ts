import type { CheckedAdapter } from "../../adapters/cli/host.js";
import { OperationRefusedError } from "../../core/errors.js";
import type { AdapterDefinition, AdapterHost } from "../../core/ports/adapter.js";
import { importPackage } from "../provider-package.js";
import { formsText, schemeOf } from "../settings/adapter-url.js";
import type { GivenSetting } from "../settings/definition.js";
import { refusedLine } from "../settings/issues.js";
import { BUILT_IN_ADAPTERS } from "./built-in.js";
import { adapterIssues } from "./definition-issues.js";
import { placeFor } from "./load.js";

/**
 * The entry with the contract suites, by its public name: only an author's installation has the packages that it
 * needs, and no other command loads it.
 */
const SUITES = "fermata-music/testing/contracts";

const TOOLS = "mocha chai fast-check fflate";

interface Suites {
  runAdapterContract(
    name: string,
    definition: AdapterDefinition,
    place: { readonly url: string; readonly settings: AdapterHost["settings"] },
  ): Promise<NonNullable<CheckedAdapter["contract"]>>;
}

export interface AdapterToCheck {
  /** A package or path; null: the built-in adapter of the URL. */
  readonly use: string | null;
  /** An empty place, which the contract suite fills; null: the suite is not run. */
  readonly url: string | null;
  /** Own settings of the adapter: text by name. */
  readonly options: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly pluginsDir: string | null;
}

/**
 * What is wrong with an adapter. Its contract suite is run where there is a URL and nothing is wrong before.
 *
 * @throws {OperationRefusedError} it cannot be loaded, or what runs contract suites is not installed
 */
export async function checkOneAdapter(given: AdapterToCheck): Promise<CheckedAdapter> {
  const { use, url, cwd, pluginsDir } = given;
  const found = use === null ? builtInOf(url ?? "") : await importPackage(use, { cwd, pluginsDir });
  const source = use ?? "built-in";
  const issues = adapterIssues(found);
  if (issues.length > 0) return { source, port: null, urls: [], settings: [], issues, contract: null };
  const definition = found as AdapterDefinition;
  const { port, schemes, settings: declared } = definition;
  const shown = { source, port, urls: Object.values(schemes).map(({ form }) => form), settings: Object.keys(declared) };
  if (url === null) return { ...shown, issues, contract: null };
  const options: Record<string, GivenSetting> = {};
  for (const [name, value] of Object.entries(given.options))
    options[name] = { value, origin: "--option", isText: true };
  const names = { url: "--url", options: "options" };
  const { issues: unfit, ...place } = placeFor(definition, { url, options, cwd }, names);
  if (unfit.length > 0) return { ...shown, issues: unfit, contract: null };
  const { runAdapterContract } = await importSuites();
  return { ...shown, issues, contract: await runAdapterContract(source, definition, place) };
}

function builtInOf(url: string): AdapterDefinition {
  const found = BUILT_IN_ADAPTERS.find(({ schemes }) => Object.hasOwn(schemes, schemeOf(url)));
  if (found !== undefined) return found;
  const forms = BUILT_IN_ADAPTERS.map(({ schemes }) => formsText(schemes)).join(" or ");
  throw new OperationRefusedError(refusedLine("--url", null, url, forms, false));
}

async function importSuites(): Promise<Suites> {
  try {
    return (await import(SUITES)) as Suites;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new OperationRefusedError(
      `The contract suites need packages that are not installed: npm install --save-dev ${TOOLS}`,
      { cause },
    );
  }
}
