import { readFileSync } from "node:fs";
import { expect } from "chai";
import { loadSettings } from "../../config/load.js";
import { loadPlugins } from "../../config/plugins.js";
import type { MusicReference, ProviderModel } from "../../core/ports/music-provider.js";
import { inputsOf } from "../../plugins/sdk/index.js";
import { aMusicRequest, aSource } from "../support/provider-kit/index.js";
import { repositoryPath } from "../support/repository.js";

const aReference = (mode: MusicReference["mode"], parts: Partial<MusicReference> = {}): MusicReference => ({
  mode,
  source: aSource({ durationSeconds: 12.3 }),
  ...{ fromSeconds: null, toSeconds: null, strength: null },
  ...parts,
});

/** The models that the settings files of a README lead to, in addition to the built-in ones. */
async function shownModels(provider: "fal" | "replicate"): Promise<Map<string, ProviderModel>> {
  const readme = readFileSync(repositoryPath("plugins", provider, "README.md"), "utf8");
  const name = provider.toUpperCase();
  const env = {
    FERMATA_CONFIG: "fermata.yaml",
    [`FERMATA_PLUGINS__${name}__ENABLED`]: "true",
    [`FERMATA_PLUGINS__${name}__API_KEY`]: "key-of-the-test",
  };
  const found = new Map<string, ProviderModel>();
  for (const [, shown = ""] of readme.matchAll(/```yaml\n([^]*?)```/g)) {
    const yaml = shown.replace("0123…", "0".repeat(64));
    const loaded = await loadPlugins(loadSettings({ env, cwd: "/", readFile: () => yaml, isTerminal: false }));
    const { models = [], definition } = loaded.find((plugin) => plugin.definition.id === provider) ?? {};
    const builtIn = new Set(definition?.models.map(({ id }) => id));
    for (const model of models) if (!builtIn.has(model.id)) found.set(model.id, model);
  }
  return found;
}

describe("The READMEs of hosts of models", () => {
  const inputsFor = (
    model: ProviderModel | undefined,
    reference: MusicReference,
    durationSeconds: number | null,
  ): unknown => {
    if (model === undefined) throw new Error("the README shows no such model");
    return inputsOf(aMusicRequest(model, { prompt: "sea", lyrics: null, durationSeconds, reference }));
  };

  it("show models of one's own that load, fal's with a track", async () => {
    const models = await shownModels("fal");
    expect([...models.keys()]).to.deep.equal(["fal/sonilo-twice", "fal/remix"]);
    const remix = models.get("fal/remix");
    expect(inputsFor(remix, aReference("cover", { strength: 0.7 }), null)).to.deep.equal({
      ...{ prompt: "sea", length: 12.3, noise: 0.3 },
    });
    expect(inputsFor(remix, aReference("extend", { fromSeconds: 10.2 }), 30)).to.deep.equal({
      ...{ prompt: "sea", continue_at: 10, length: 41 },
    });
  });

  it("show models of one's own that load, Replicate's with a track", async () => {
    const models = await shownModels("replicate");
    expect([...models.keys()]).to.deep.equal(["replicate/my-model", "replicate/musicgen-extend"]);
    const continued = models.get("replicate/musicgen-extend");
    const fixed = { model_version: "stereo-large", output_format: "mp3", continuation: true };
    expect(inputsFor(continued, aReference("extend"), 15)).to.deep.equal({ ...fixed, prompt: "sea", duration: 28 });
    expect(inputsFor(continued, aReference("extend", { fromSeconds: 5 }), null)).to.deep.equal({
      ...{ ...fixed, prompt: "sea", continuation_end: 5, duration: 13 },
    });
  });
});
