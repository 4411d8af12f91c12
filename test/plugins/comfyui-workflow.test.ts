import { expect } from "chai";
import { type ProviderModel, STANDARD_OPTIONS } from "../../core/ports/music-provider.js";
import definition from "../../plugins/comfyui/index.js";
import { aMusicRequest, aSource, aSplitRequest, type FakeApi } from "../support/provider-kit/index.js";
import { aModel, ComfyUiBench } from "./comfyui-bench.js";
import { bodyOf, nodesOf, PROMPT, STEM_SETTINGS, STEM_WORKFLOW, UPLOAD } from "./comfyui-server.js";

const WORKFLOW = {
  "1": {
    class_type: "StableAudio",
    inputs: { text: "{{prompt}}, {{options.mood}}", length: "{{duration}}", cfg: "{{options.cfg}}" },
  },
  "2": { class_type: "Sampler", inputs: { seed: "{{seed}}", quiet: "{{instrumental}}", from: ["1", 0] } },
  "7": { class_type: "SaveAudio", inputs: { audio: ["2", 0], note: "{{negative_prompt}}", other: "{{options.none}}" } },
};
const oneNode = (text: string) => ({ "7": { class_type: "SaveAudio", inputs: { text } } });
const OPTIONS = { workflow: WORKFLOW, output: "7", mood: "calm", cfg: 6 };

/** A model of the operator's, that by default lets callers choose nothing. */
function anotherModel(parts: Partial<ProviderModel>): ProviderModel {
  const { requestOptions: _, ...model } = aModel({ options: OPTIONS });
  return { ...model, ...parts };
}

describe("comfyui and its workflows", () => {
  let bench: ComfyUiBench;
  let fake: FakeApi;
  beforeEach(async () => {
    bench = await ComfyUiBench.open();
    ({ fake } = bench);
  });
  afterEach(() => bench.close());

  it("sends the ACE-Step workflow by default, with the length and the seed in two nodes each", async () => {
    const request = { prompt: 'warm "folk"', lyrics: "[Verse]\n{{seed}}", durationSeconds: 95, instrumental: false };
    await bench.accepted(aModel(), { ...request, attemptId: "att_1" });
    const body = bodyOf(fake.calls(PROMPT)[0]);
    const seed = nodesOf(fake.calls(PROMPT)[0])["6"]?.inputs["seed"];
    expect(seed).to.be.a("number").and.satisfy(Number.isSafeInteger);
    expect(body).to.deep.equal({
      prompt_id: body["prompt_id"],
      client_id: "fermata",
      extra_data: { fermata: { operation: "music", nodes: { mix: "8", master: "9" }, attempt_id: "att_1" } },
      prompt: {
        "1": { class_type: "CheckpointLoaderSimple", inputs: { ckpt_name: "ace_step_1.5_turbo_aio.safetensors" } },
        "2": { class_type: "ModelSamplingAuraFlow", inputs: { model: ["1", 0], shift: 3 } },
        "3": {
          class_type: "TextEncodeAceStepAudio1.5",
          inputs: {
            clip: ["1", 1],
            tags: 'warm "folk"',
            lyrics: "[Verse]\n{{seed}}",
            seed,
            bpm: 120,
            duration: 95,
            timesignature: "4",
            language: "en",
            keyscale: "C major",
            generate_audio_codes: true,
            cfg_scale: 2,
            temperature: 0.85,
            top_p: 0.9,
            top_k: 0,
            min_p: 0,
          },
        },
        "4": { class_type: "ConditioningZeroOut", inputs: { conditioning: ["3", 0] } },
        "5": { class_type: "EmptyAceStep1.5LatentAudio", inputs: { seconds: 95, batch_size: 1 } },
        "6": {
          class_type: "KSampler",
          inputs: {
            model: ["2", 0],
            positive: ["3", 0],
            negative: ["4", 0],
            latent_image: ["5", 0],
            seed,
            steps: 8,
            cfg: 1,
            sampler_name: "euler",
            scheduler: "simple",
            denoise: 1,
          },
        },
        "7": { class_type: "VAEDecodeAudio", inputs: { samples: ["6", 0], vae: ["1", 2] } },
        "8": {
          class_type: "SaveAudioMP3",
          inputs: { audio: ["7", 0], filename_prefix: "fermata/att_1", quality: "320k" },
        },
        "9": { class_type: "SaveAudio", inputs: { audio: ["7", 0], filename_prefix: "fermata/att_1" } },
      },
    });
  });

  it("sends an instrumental's lyrics, the default length, and the options of model and request", async () => {
    const options = { bpm: 84, key: "A minor", language: "fr" };
    const request = { options: { language: "de" }, lyrics: null, durationSeconds: null, instrumental: true };
    await bench.accepted(aModel({ options, upstream: "other.safetensors" }), request);
    const nodes = nodesOf(fake.calls(PROMPT)[0]);
    expect(nodes["1"]?.inputs).to.deep.equal({ ckpt_name: "other.safetensors" });
    const words = { lyrics: "[Instrumental]", bpm: 84, keyscale: "A minor", language: "de", duration: 120 };
    expect(nodes["3"]?.inputs).to.include(words);
    expect(nodes["5"]?.inputs["seconds"]).to.equal(120);
  });

  it("sends equal requests with different seeds, and the same attempt under the same id", async () => {
    const model = aModel();
    for (const attemptId of ["att_1", "att_2", "att_1"]) await bench.accepted(model, { prompt: "rain", attemptId });
    const ids = fake.calls(PROMPT).map((call) => bodyOf(call)["prompt_id"]);
    const seeds = fake.calls(PROMPT).map((call) => nodesOf(call)["6"]?.inputs["seed"]);
    expect([ids[0] === ids[2], new Set(ids).size, new Set(seeds).size]).to.deep.equal([true, 2, 2]);
  });

  it("sends the operator's workflow, an object or JSON text, with values of their own type", async () => {
    for (const workflow of [WORKFLOW, JSON.stringify(WORKFLOW)]) {
      const model = anotherModel({ supportsLyrics: false, options: { ...OPTIONS, workflow, output: 7 } });
      expect(definition.checkModel?.(model)).to.equal(null);
      const request = { prompt: "rain", lyrics: null, durationSeconds: 30, instrumental: true };
      await bench.accepted(model, { ...request, options: { negative_prompt: "noise", bpm: 90 } });
      const call = fake.calls(PROMPT).at(-1);
      const seed = nodesOf(call)["2"]?.inputs["seed"];
      expect(nodesOf(call)).to.deep.equal({
        "1": { class_type: "StableAudio", inputs: { text: "rain, calm", length: 30, cfg: 6 } },
        "2": { class_type: "Sampler", inputs: { seed, quiet: true, from: ["1", 0] } },
        "7": { class_type: "SaveAudio", inputs: { audio: ["2", 0], note: "" } },
      });
      expect(bodyOf(call)["extra_data"]).to.have.nested.property("fermata.nodes").that.deep.equals({ mix: "7" });
    }
  });

  it("fills placeholders with the options that the model declares", async () => {
    const inputs = { note: "{{negative_prompt}}", swing: "{{swing}}" };
    const workflow = { ...WORKFLOW, "7": { class_type: "SaveAudio", inputs } };
    const swing = { type: "number", minimum: 0, maximum: 1, description: "How much it swings" } as const;
    const requestOptions = { negative_prompt: STANDARD_OPTIONS.negative_prompt, swing };
    const model = anotherModel({ supportsLyrics: false, options: { ...OPTIONS, workflow }, requestOptions });
    expect(definition.checkModel?.(model)).to.equal(null);
    await bench.accepted(model, { options: { negative_prompt: "noise", swing: 0.3 } });
    expect(nodesOf(fake.calls(PROMPT)[0])["7"]?.inputs).to.deep.equal({ note: "noise", swing: 0.3 });
  });

  it("uploads a track, and fills its name on the server into the workflow of stems", async () => {
    bench.start(STEM_SETTINGS);
    fake.on(UPLOAD.method, UPLOAD.path, ({ text }) => {
      expect(text).to.include('name="image"; filename="fermata-att_7.wav"').and.include("audio/wav");
      return { body: JSON.stringify({ name: "a.wav", subfolder: "in", type: "input" }) };
    });
    await bench.submit(aSplitRequest("stem_split", aSource({ contentType: "audio/wav" }), { attemptId: "att_7" }));
    const [call] = fake.calls(PROMPT);
    expect(nodesOf(call)["1"]).to.deep.equal({ class_type: "LoadAudio", inputs: { audio: "in/a.wav" } });
    expect(nodesOf(call)["3"]?.inputs["filename_prefix"]).to.equal("att_7/vocals");
  });

  const ISSUES: readonly (readonly [parts: Partial<ProviderModel>, says: string])[] = [
    [{ options: { output: "8" } }, "options.output without options.workflow"],
    [{ options: { bpm: [120] } }, "options.bpm; allowed: text"],
    [{ options: { ...OPTIONS, workflow: "{" } }, "a workflow in API format"],
    [{ options: { ...OPTIONS, workflow: { nodes: [], links: [] } } }, "Export (API)"],
    [{ options: { ...OPTIONS, workflow: { "1": { inputs: {} } } } }, 'node "1" has no class_type'],
    [{ options: { ...OPTIONS, workflow: {} } }, "no nodes"],
    [{ options: OPTIONS }, "has no {{lyrics}}"],
    [{ supportsLyrics: false, options: { ...OPTIONS, output: "70" } }, "needs options.output"],
    [{ supportsLyrics: false, options: { ...OPTIONS, master: "70" } }, "options.master"],
    [{ supportsLyrics: false, requestOptions: { bpm: STANDARD_OPTIONS.bpm } }, "has no {{bpm}}"],
    [{ supportsLyrics: false, requestOptions: { seed: STANDARD_OPTIONS.seed } }, "no {{attempt_id}}"],
    [{ options: { ...OPTIONS, workflow: oneNode("{{promt}}") } }, "has {{promt}}"],
    [{ options: { ...OPTIONS, workflow: oneNode("{{prompt}}") } }, "has no {{seed}}"],
  ];
  for (const [parts, says] of ISSUES) {
    it(`rejects a model with ${JSON.stringify(parts).slice(0, 90)}`, () => {
      expect(definition.checkModel?.(anotherModel(parts))).to.include(says);
    });
  }

  it("rejects a model without the file of its checkpoint", () => {
    const { upstream: _, ...nameless } = aModel();
    expect(definition.checkModel?.(nameless)).to.include("needs `upstream`");
  });

  const { stemWorkflow, stemOutputs } = STEM_SETTINGS;
  const SETTINGS: readonly (readonly [settings: Record<string, string>, says: string])[] = [
    [{ stemWorkflow }, "stemWorkflow: it goes with stemOutputs"],
    [{ stemOutputs }, "stemOutputs: it goes with stemWorkflow"],
    [{ stemWorkflow: "[]", stemOutputs }, "stemWorkflow: allowed: a workflow"],
    [{ stemWorkflow: stemWorkflow.replace("{{source}}", "a.mp3"), stemOutputs }, "{{source}}"],
    [{ stemWorkflow: stemWorkflow.replace("{{attempt_id}}", "{{prompt}}"), stemOutputs }, "there is no {{prompt}}"],
    [{ stemWorkflow, stemOutputs: '{"Vocals":"3"}' }, 'stemOutputs: "Vocals"'],
    [{ stemWorkflow, stemOutputs: '{"vocals":"30"}' }, 'stemOutputs: vocals: "30"'],
    [{ stemWorkflow, stemOutputs: "{}" }, "names no stem"],
    [{ stemWorkflow, stemOutputs: "vocals" }, "stemOutputs"],
  ];
  for (const [settings, says] of SETTINGS) {
    it(`does not start with invalid settings of stems: ${says}`, () => {
      expect(() => bench.start(settings)).to.throw(says);
    });
  }

  it("removes vocals only when both nodes are configured", () => {
    const declared = (outputs: object): boolean[] => {
      const { capabilities } = definition;
      const settings = { stemWorkflow: JSON.stringify(STEM_WORKFLOW), stemOutputs: JSON.stringify(outputs) };
      const { stemSplit, vocalRemoval } = typeof capabilities === "function" ? capabilities(settings) : capabilities;
      return [stemSplit !== undefined, vocalRemoval !== undefined];
    };
    expect(declared({ vocals: "3", instrumental: "5" })).to.deep.equal([true, true]);
    expect(declared({ vocals: "3", drums: "4" })).to.deep.equal([true, false]);
  });

  it("sends texts of callers unchanged", async () => {
    const prompt = 'a {b|c} \\ {{lyrics}} \u0000 "';
    await bench.submit(aMusicRequest(aModel(), { prompt }));
    expect(nodesOf(fake.calls(PROMPT)[0])["3"]?.inputs["tags"]).to.equal(prompt);
  });
});
