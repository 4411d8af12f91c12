import { expect } from "chai";
import type { ProviderModel, Running } from "../../core/ports/music-provider.js";
import definition from "../../plugins/ace-step/index.js";
import type { FakeApi } from "../support/provider-kit/index.js";
import { AceStepBench, aModel, failureOf, kindOf } from "./ace-step-bench.js";
import { HEALTH, HEALTHY, idle, QUEUED, refused, running, says, STATS, STOCK, up } from "./ace-step-support.js";

describe("ace-step and its server", () => {
  let bench: AceStepBench;
  let fake: FakeApi;
  beforeEach(async () => {
    bench = await AceStepBench.open();
    ({ fake } = bench);
  });
  afterEach(() => bench.close());

  describe("detects tasks that were lost in a restart", () => {
    it("when their progress stands still and the server is idle, twice", async () => {
      const handle = await bench.accepted();
      await says(0, [running(0.62)], "")(fake);
      idle(fake);
      const kinds: (string | undefined)[] = [];
      for (let polls = 0; polls < 4; polls += 1) {
        kinds.push(kindOf(await bench.poll(handle)));
        await bench.clock.advance(4_000);
      }
      expect(kinds).to.deep.equal(["running", "running", "running", "gone"]);
      expect(kindOf(await bench.poll(handle))).to.equal("gone");
    });

    it("but not while the server works, the task progresses or waits, or the load is not available", async () => {
      const handle = await bench.accepted();
      const polls: readonly (readonly [progress: number | null, load: "idle" | "busy" | "unknown"])[] = [
        [0.5, "idle"],
        [0.5, "idle"],
        [0.5, "busy"],
        [0.5, "idle"],
        [0.6, "idle"],
        [0.6, "idle"],
        [null, "idle"],
        [null, "idle"],
        [0.6, "unknown"],
        [0.6, "unknown"],
        [0.6, "unknown"],
      ];
      for (const [progress, load] of polls) {
        await says(0, [progress === null ? QUEUED : running(progress)], "")(fake);
        if (load === "unknown") fake.on(STATS.method, STATS.path, refused(404, "Not Found"));
        else idle(fake, load === "idle");
        const polled = await bench.poll(handle);
        expect(kindOf(polled), `${String(progress)}, ${load}`).to.equal("running");
        expect((polled as Running).progress?.percent).to.equal((progress ?? 0) * 100);
        await bench.clock.advance(4_000);
      }
    });

    it("reads the load only when the progress stands still", async () => {
      const handle = await bench.accepted();
      for (const progress of [0.1, 0.2, 0.3]) {
        await says(0, [running(progress)])(fake);
        await bench.poll(handle);
      }
      expect(fake.calls(STATS)).to.have.lengthOf(0);
    });
  });

  describe("the probe", () => {
    it("warns of a server without loaded models, without a planner, or without a configured model", async () => {
      const models = [
        aModel({ options: { thinking: true } }),
        aModel({ id: "ace-step/base", upstream: "acestep-v15-base" }),
      ];
      bench.start({}, models);
      up(fake);
      const missing = "ace-step/base: acestep-v15-base is not loaded; the server runs its primary model.";
      expect(await bench.probe()).to.deep.equal({ credit: null, warnings: [missing] });
      up(fake, { ...HEALTHY, llm_initialized: false });
      expect((await bench.probe()).warnings).to.deep.equal([
        "ace-step/v1.5-turbo: options.thinking needs the planner, which is not loaded: its jobs fail.",
        missing,
      ]);
      const nothing = STOCK.models.map((one) => ({ ...one, is_loaded: false }));
      up(fake, { ...HEALTHY, models_initialized: false, llm_initialized: false }, { ...STOCK, models: nothing });
      const [warning, ...others] = (await bench.probe()).warnings;
      expect(warning).to.include("No model is loaded yet").and.include("ACESTEP_NO_INIT=false");
      expect(others).to.deep.equal([]);
    });

    it("checks the key at a version without the inventory", async () => {
      up(fake);
      fake.on("GET", "/v1/model_inventory", refused(404, "Not Found"));
      expect(await bench.probe()).to.deep.equal({ credit: null, warnings: [] });
      fake.on(STATS.method, STATS.path, refused(401, "Invalid API key"));
      expect((await failureOf(bench.probe())).kind).to.equal("misconfigured");
    });

    it("reports the server of the web page, and any other server, as misconfigured", async () => {
      up(fake, { ...HEALTHY, service: "ACE-Step Gradio API" });
      const failure = await failureOf(bench.probe());
      expect([failure.kind, failure.message.includes("ACE-Step Gradio API")]).to.deep.equal(["misconfigured", true]);
      fake.on(HEALTH.method, HEALTH.path, refused(404, "Not Found"));
      expect((await failureOf(bench.probe())).kind).to.equal("misconfigured");
    });
  });

  describe("rejects an operator's model", () => {
    const REFUSED: readonly (readonly [parts: Partial<ProviderModel>, says: string])[] = [
      [{ requiresLyrics: false }, "requiresLyrics: true"],
      [{ options: { steps: 8 } }, "has options.steps; allowed: thinking, inferenceSteps"],
      [{ options: { thinking: "yes" } }, "options.thinking"],
      [{ options: { inferenceSteps: 0 } }, "options.inferenceSteps: 0; allowed: a whole number from 1 to 200"],
      [{ options: { guidanceScale: "7" } }, "options.guidanceScale"],
      [{ options: { shift: -1 } }, "options.shift"],
      [{ options: { vocalLanguage: "German" } }, "options.vocalLanguage"],
    ];
    for (const [parts, says] of REFUSED) {
      it(`with ${JSON.stringify(parts)}`, () => {
        expect(definition.checkModel?.(aModel(parts))).to.include(says);
      });
    }

    it("without `upstream`, and accepts one without lyrics", () => {
      const { upstream: _, ...nameless } = aModel();
      expect(definition.checkModel?.(nameless)).to.include("needs `upstream`");
      const { requiresLyrics: __, ...instrumental } = aModel({ supportsLyrics: false });
      expect(definition.checkModel?.(instrumental)).to.equal(null);
    });
  });
});
