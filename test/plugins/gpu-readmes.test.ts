import { readFileSync } from "node:fs";
import { expect } from "chai";
import { loadSettings } from "../../config/load.js";
import { loadPlugins } from "../../config/plugins.js";
import type { ProviderDefinition, ProviderModel } from "../../core/ports/music-provider.js";
import aceStep from "../../plugins/ace-step/index.js";
import comfyUi from "../../plugins/comfyui/index.js";
import { repositoryPath } from "../support/repository.js";

const readmeOf = (plugin: string): string => readFileSync(repositoryPath("plugins", plugin, "README.md"), "utf8");

/** Its name, type and default. */
const SETTING = /^\| `(\w+)` \|[^|]*\|([^|]*)\|/gm;

/** The settings files that a text shows. */
function settingsIn(markdown: string): string[] {
  return [...markdown.matchAll(/```yaml\n([^]*?)```/g)].map(([, yaml = ""]) => yaml);
}

async function modelsOf(yaml: string, provider: string): Promise<readonly ProviderModel[]> {
  const env = { FERMATA_CONFIG: "fermata.yaml" };
  const loaded = await loadPlugins(loadSettings({ env, cwd: "/", readFile: () => yaml, isTerminal: false }));
  return loaded.find(({ definition }) => definition.id === provider)?.models ?? [];
}

/** For each plugin the models that the settings files of its README lead to. */
const PLUGINS: readonly (readonly [definition: ProviderDefinition, models: readonly (readonly string[])[]])[] = [
  [aceStep, [["ace-step/v1.5-turbo"], ["ace-step/v1.5-turbo", "ace-step/v1.5-xl-sft"]]],
  [
    comfyUi,
    [
      ["comfyui/ace-step-v1.5-turbo"],
      ["comfyui/ace-step-v1.5-turbo", "comfyui/stable-audio-open"],
      ["comfyui/ace-step-v1.5-turbo"],
    ],
  ],
];

for (const [definition, shown] of PLUGINS) {
  const { id, settings } = definition;
  const readme = readmeOf(id);

  describe(`The README of ${id}, for operators with a GPU`, () => {
    it("states the default of every setting", () => {
      const rows = new Map([...readme.matchAll(SETTING)].map(([, name, value]) => [name, value]));
      const message = Object.keys(settings).map((name) => [name, rows.get(name)?.replaceAll("`", "").trim()]);
      const defaults = Object.entries(settings).map(([name, { default: value }]) => [name, String(value ?? "")]);
      expect(message).to.deep.equal(defaults);
    });

    it("shows settings that load", async () => {
      const ids = await Promise.all(settingsIn(readme).map((yaml) => modelsOf(yaml, id)));
      expect(ids.map((found) => found.map((model) => model.id))).to.deep.equal(shown);
    });
  });
}
