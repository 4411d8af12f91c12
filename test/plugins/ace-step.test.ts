import { expect } from "chai";
import type { Completed, ProviderFailure, ProviderHandle } from "../../core/ports/music-provider.js";
import { storableResult } from "../../core/results/stored-result.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { type FakeApi, tinyWav } from "../support/provider-kit/index.js";
import { AceStepBench, aModel, failureOf, kindOf } from "./ace-step-bench.js";
import {
  aceStep,
  API_KEY,
  bodyOf,
  done,
  enveloped,
  FAILED,
  idle,
  MODEL,
  NO_METAS,
  QUERY,
  QUEUED,
  refused,
  running,
  says,
  STATS,
  store,
  SUBMIT,
  tells,
  notified,
} from "./ace-step-support.js";

musicProviderContract("ace-step", aceStep);

describe("ace-step", () => {
  let bench: AceStepBench;
  let fake: FakeApi;
  beforeEach(async () => {
    bench = await AceStepBench.open();
    ({ fake } = bench);
  });
  afterEach(() => bench.close());

  describe("sends", () => {
    it("a song: one track, of a seed of its own, with the key", async () => {
      const request = { prompt: "warm folk", lyrics: "[Verse]\nRain", durationSeconds: 95, instrumental: false };
      await bench.accepted(aModel(), request);
      const [call] = fake.calls(SUBMIT);
      expect(bodyOf(call)).to.deep.equal({
        prompt: "warm folk",
        lyrics: "[Verse]\nRain",
        audio_duration: 95,
        batch_size: 1,
        audio_format: "flac",
        model: MODEL,
        thinking: false,
        use_random_seed: true,
      });
      expect(call?.headers).to.include({ authorization: `Bearer ${API_KEY}` });
    });

    it("an instrumental in the words that the model knows it by, and the default length", async () => {
      const request = { prompt: "rain", lyrics: null, durationSeconds: null, instrumental: true };
      await bench.accepted(aModel({ options: { vocalLanguage: "de" } }), request);
      expect(bodyOf(fake.calls(SUBMIT)[0])).to.include({
        lyrics: "[Instrumental]",
        vocal_language: "unknown",
        audio_duration: 120,
      });
    });

    it("what the model's options say, in the format of the settings", async () => {
      bench.start({ audioFormat: "opus" });
      const options = { thinking: true, inferenceSteps: 50, guidanceScale: 7, shift: 1, vocalLanguage: "de" };
      await bench.accepted(aModel({ upstream: "acestep-v15-base", options }), { lyrics: "[Verse]\nRegen" });
      expect(bodyOf(fake.calls(SUBMIT)[0])).to.include({
        model: "acestep-v15-base",
        thinking: true,
        inference_steps: 50,
        guidance_scale: 7,
        shift: 1,
        vocal_language: "de",
        audio_format: "opus",
      });
    });

    it("no key where there is none", async () => {
      fake.on(SUBMIT.method, SUBMIT.path, enveloped({ task_id: "t1", status: "queued", queue_position: 1 }));
      bench.start({ apiKey: undefined });
      await bench.accepted();
      expect(fake.calls(SUBMIT)[0]?.headers).to.not.have.property("authorization");
    });
  });

  describe("reads", () => {
    it("the state of each of several tasks from one response, in whatever order", async () => {
      const foreign: ProviderHandle = { version: 9, data: {} };
      const handles = [await bench.accepted(), await bench.accepted(), await bench.accepted(), foreign];
      const [first, second, third] = handles.map(({ data }) => String(data["taskId"]));
      const [file = ""] = store(fake, [tinyWav()]);
      tells(fake, (id) => {
        if (id === first) return notified(0, [running(0.2)]);
        return id === second ? notified(1, [done(file)]) : id === third ? notified(2, [FAILED]) : undefined;
      });
      const kinds = (await bench.pollMany(...handles)).map(kindOf);
      expect(kinds).to.deep.equal(["running", "completed", "failed", "failed"]);
      expect(fake.calls(QUERY)).to.have.lengthOf(1);
    });

    it("a full queue as rate_limited, for as long as some of its jobs take; then the task is accepted", async () => {
      fake.once(SUBMIT.method, SUBMIT.path, refused(429, "Server busy: queue is full"));
      const failure = await failureOf(bench.submit());
      expect([failure.kind, failure.retryAfterMs]).to.deep.equal(["rate_limited", 37_500]);
      expect((await bench.accepted()).data["taskId"]).to.be.a("string");
    });

    it("a full queue as rate_limited for 30 seconds when the server does not report its load", async () => {
      fake.on(STATS.method, STATS.path, refused(404, "Not Found"));
      fake.once(SUBMIT.method, SUBMIT.path, refused(429, "Server busy: queue is full"));
      const failure = await failureOf(bench.submit());
      expect([failure.kind, failure.retryAfterMs]).to.deep.equal(["rate_limited", 30_000]);
    });

    it("the reason of a failure from the last line of its error, never from the log of another job", async () => {
      const handle = await bench.accepted();
      const traceback = 'Traceback (most recent call last):\n  File "a.py", line 3\nError: CUDA out of memory\n';
      for (const [error, detail] of [
        ["checkpoint not found", "checkpoint not found"],
        [traceback, "CUDA out of memory"],
        [undefined, "the reason is in the server's log"],
      ] as const) {
        await says(2, [{ ...FAILED, error }], "another job")(fake);
        const failure = (await bench.poll(handle)) as ProviderFailure;
        expect([failure.kind, failure.providerCode]).to.deep.equal(["failed", "failed"]);
        expect(failure.message).to.include(detail).and.not.include("another job").and.not.include("Traceback");
      }
    });

    it("a poll that times out while a model loads as unavailable", async () => {
      bench.start({ timeoutMs: 1_000 });
      const handle = await bench.accepted();
      await says(0, [QUEUED])(fake);
      fake.spoil(QUERY, "hang");
      const failure = await failureOf(bench.pollMany(handle));
      expect(failure.kind).to.equal("unavailable");
      expect(kindOf(await bench.poll(handle))).to.equal("running");
    });
  });

  describe("delivers", () => {
    it("files of the server with its key, without a content type or a length", async () => {
      const handle = await bench.accepted();
      const [file = ""] = store(fake, [tinyWav()], "audio/mpeg");
      await says(1, [done(file)])(fake);
      const [track, ...others] = await bench.tracks(handle);
      expect(others).to.deep.equal([]);
      const source = { kind: "url", url: `${fake.url}${file}`, headers: { authorization: `Bearer ${API_KEY}` } };
      expect(track).to.deep.equal({
        title: null,
        bpm: 92,
        tags: { mood: [], activity: [], genre: ["folk", "acoustic"], other: [] },
        assets: [{ role: "mix", label: "full", contentType: null, durationSeconds: null, source }],
        lyrics: { text: "[Verse]\nRain on the tin roof" },
      });
    });

    it("a result that outlives its worker where there is no key", async () => {
      const handle = await bench.accepted();
      bench.start({ apiKey: undefined });
      const said = notified(1, [done("/v1/audio?path=%2Fa.wav")]);
      fake.on(QUERY.method, QUERY.path, enveloped([{ task_id: handle.data["taskId"], ...said }]));
      const result: Completed = { state: "completed", tracks: await bench.tracks(handle) };
      expect(storableResult(result)).to.equal(result);
    });

    it("files below the path of a proxy, and those elsewhere without the key", async () => {
      const handle = await bench.accepted();
      bench.start({ baseUrl: `${fake.url}/ace/` });
      const links = ["/v1/audio?path=%2Fa.flac", `${fake.url}/b.flac`, "https://cdn.example/c.flac"];
      fake.on(QUERY.method, `/ace${QUERY.path}`, ({ json: body }) => {
        const [id] = (body as { readonly task_id_list: readonly string[] }).task_id_list;
        return enveloped([
          {
            task_id: id,
            ...notified(
              1,
              links.map((link) => done(link)),
            ),
          },
        ]);
      });
      const sources = (await bench.tracks(handle)).map(({ assets: [asset] }) => asset?.source);
      const headers = { authorization: `Bearer ${API_KEY}` };
      expect(sources).to.deep.equal([
        { kind: "url", url: `${fake.url}/ace/v1/audio?path=%2Fa.flac`, headers },
        { kind: "url", url: `${fake.url}/b.flac`, headers },
        { kind: "url", url: "https://cdn.example/c.flac" },
      ]);
    });

    it("no lyrics where nothing is sung, in each of its spellings", async () => {
      const handle = await bench.accepted();
      for (const lyrics of ["[Instrumental]", "[inst]", "N/A", "", undefined]) {
        await says(1, [done("/v1/audio?path=a", { lyrics })])(fake);
        expect((await bench.tracks(handle))[0], String(lyrics)).to.not.have.property("lyrics");
      }
    });

    it("no tempo and no tags where the server has none, in each of its spellings", async () => {
      const handle = await bench.accepted();
      for (const metas of [NO_METAS, {}, undefined, { bpm: "fast", genres: 7 }]) {
        await says(1, [done("/v1/audio?path=a", { metas })])(fake);
        const [track] = await bench.tracks(handle);
        expect([track?.bpm, track?.tags.genre]).to.deep.equal([null, []]);
      }
    });

    it("a track of another model than the requested one, with a warning in the log", async () => {
      const handle = await bench.accepted(aModel({ upstream: "acestep-v15-xl-turbo" }));
      await says(1, [done("/v1/audio?path=a")])(fake);
      expect(await bench.tracks(handle)).to.have.lengthOf(1);
      const { taskId } = handle.data;
      expect(bench.host.lines.map(({ level, fields }) => ({ level, fields }))).to.deep.equal([
        { level: "warn", fields: { taskId, requested: "acestep-v15-xl-turbo", used: MODEL } },
      ]);
    });

    it("tracks that were finished before a restart of the server, with fewer members", async () => {
      const handle = await bench.accepted();
      await says(1, [{ file: "/v1/audio?path=a", status: 1, metas: {} }], "")(fake);
      idle(fake);
      expect(await bench.tracks(handle)).to.have.lengthOf(1);
      expect(bench.host.lines).to.deep.equal([]);
    });
  });
});
