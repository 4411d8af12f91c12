import { expect } from "chai";
import { loadSettings, SettingsError } from "../../../config/load.js";
import { BUILT_IN } from "../../../config/plugins.js";

/** The lines with which these settings of a plugin are refused. */
function issuesOf(
  id: string,
  entry: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
): readonly string[] {
  try {
    loadSettings({ env, cwd: "/srv/app", isTerminal: false, overrides: { plugins: { [id]: entry } } });
  } catch (error) {
    if (error instanceof SettingsError) return error.lines;
    throw error;
  }
  return [];
}

describe("misspelt settings of a plugin that is not known to be on", () => {
  it("are refused where `enabled` is meant, in the file and in the environment", () => {
    const line = "unknown setting; did you mean plugins.nightjar.enabled?";
    const entry = { use: "fermata-nightjar", apiKey: "k" };
    for (const name of ["enabeld", "enable", "Enabled", "enabld"])
      expect(issuesOf("nightjar", { ...entry, [name]: true })).to.deep.equal([
        `plugins.nightjar.${name} (overrides): ${line}`,
      ]);
    expect(issuesOf("nightjar", entry, { FERMATA_PLUGINS__NIGHTJAR__ENABELD: "true" })).to.deep.equal([
      `plugins.nightjar.enabeld (FERMATA_PLUGINS__NIGHTJAR__ENABELD): ${line}`,
    ]);
    expect(issuesOf("synth", { enabeld: false })).to.deep.equal([
      "plugins.synth.enabeld (overrides): unknown setting; did you mean plugins.synth.enabled?",
    ]);
  });

  it("are refused where `use` is meant", () => {
    for (const name of ["uze", "us", "Use"])
      expect(issuesOf("nightjar", { [name]: "fermata-nightjar" })).to.deep.equal([
        `plugins.nightjar.${name} (overrides): unknown setting; did you mean plugins.nightjar.use?`,
      ]);
  });

  it("stay where the entry says that the plugin is off", () => {
    expect(issuesOf("nightjar", { enabled: false, enabeld: true, uze: "x", apiKey: "k" })).to.deep.equal([]);
    expect(issuesOf("nightjar", { uze: "x" }, { FERMATA_PLUGINS__NIGHTJAR__ENABLED: "false" })).to.deep.equal([]);
  });

  it("are not seen in names that plugins have", async () => {
    const plausible = ["url", "user", "uses", "base", "key", "label", "table", "disabled", "apiKey", "baseUrl"];
    for (const name of plausible) expect(issuesOf("nightjar", { [name]: "x" }), name).to.deep.equal([]);
    for (const [id, builtIn] of Object.entries(BUILT_IN))
      for (const name of Object.keys((await builtIn()).default.settings))
        expect(issuesOf(id, { [name]: "x" }), `${id}.${name}`).to.deep.equal([]);
  });
});
