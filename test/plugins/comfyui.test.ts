import { expect } from "chai";
import { storableResult } from "../../core/results/stored-result.js";
import { musicProviderContract, type Script } from "../contract/music-provider.contract.js";
import { aMusicRequest, aSource, aSplitRequest, type FakeApi, json, text } from "../support/provider-kit/index.js";
import { aModel, ComfyUiBench, failureOf } from "./comfyui-bench.js";
import {
  acceptsOld,
  API_KEY,
  bodyOf,
  CANCEL,
  HISTORY,
  INFO,
  INSTALLED,
  INTERRUPT,
  JOB,
  type Json,
  PROMPT,
  promptIds,
  QUEUE,
  queueOf,
  says,
  saysOld,
  STATS,
  STEM_SETTINGS,
} from "./comfyui-server.js";
import { comfyUi, comfyUiOld } from "./comfyui-support.js";

musicProviderContract("comfyui", comfyUi);
musicProviderContract("comfyui, an older server, with stems", comfyUiOld);

/** A file as the server names it. */
const saved = (filename: string): Json => ({ filename, subfolder: "a b", type: "output" });

describe("comfyui", () => {
  let bench: ComfyUiBench;
  let fake: FakeApi;
  beforeEach(async () => {
    bench = await ComfyUiBench.open();
    ({ fake } = bench);
  });
  afterEach(() => bench.close());

  const linkOf = (filename: string): object => ({
    kind: "url",
    url: `${fake.url}/view?filename=${filename}&subfolder=a+b&type=output`,
    headers: { authorization: `Bearer ${API_KEY}` },
  });

  it("returns the files of the saving nodes, with their lossless copies", async () => {
    const handle = await bench.accepted();
    const outputs = {
      "7": { audio: [saved("preview.mp3")] },
      "8": { audio: [saved("1.mp3"), saved("2.mp3")], text: ["done"] },
      "9": { audio: [saved("1.flac")] },
    };
    await says({ status: "completed", outputs })(fake);
    const asset = (role: string, filename: string): object => ({
      role,
      label: "full",
      contentType: null,
      durationSeconds: null,
      source: linkOf(filename),
    });
    const snapshot = await bench.poll(handle);
    expect(snapshot.state === "completed" && snapshot.tracks.map(({ assets }) => assets)).to.deep.equal([
      [asset("mix", "1.mp3"), asset("master", "1.flac")],
      [asset("mix", "2.mp3")],
    ]);
  });

  it("returns a result that outlives its worker where there is no key", async () => {
    const handle = await bench.accepted();
    bench.start({ apiKey: undefined });
    await says({ status: "completed", outputs: { "8": { audio: [saved("1.mp3")] } } })(fake);
    const snapshot = await bench.poll(handle);
    if (snapshot.state !== "completed") return expect.fail("It is done.");
    expect(storableResult(snapshot)).to.equal(snapshot);
  });

  const SERVERS: readonly (readonly [what: string, kept: (outputs: Json, extra: Json) => Script])[] = [
    [
      "with routes of jobs",
      (outputs, extra) => says({ status: "completed", outputs, workflow: { extra_data: extra } }),
    ],
    [
      "with a history alone",
      (outputs, extra) => saysOld({ prompt: [1, "id", {}, extra, []], outputs, status: { status_str: "success" } }),
    ],
  ];
  for (const [what, kept] of SERVERS) {
    it(`finds the files of each node after a lost reply, at a server ${what}`, async () => {
      bench.start(STEM_SETTINGS);
      fake.spoil(PROMPT, "cut-reply");
      const request = aSplitRequest("vocal_removal", aSource());
      expect((await failureOf(bench.submit(request))).kind).to.equal("outcome_unknown");
      const extra = bodyOf(fake.calls(PROMPT)[0])["extra_data"] as Json;
      const files = { "3": "v.mp3", "4": "d.mp3", "5": "i.mp3" };
      const outputs = Object.entries(files).map(([node, file]) => [node, { audio: [saved(file)] }] as const);
      await kept(Object.fromEntries(outputs), extra)(fake);
      const found = await bench.lookup(request.attemptId);
      const snapshot = found.state === "accepted" ? await bench.poll(found.handle) : found;
      const stems = snapshot.state === "completed" ? (snapshot.stems ?? []) : [];
      expect(stems.map(({ label, source }) => [label, source])).to.deep.equal([
        ["vocals", linkOf("v.mp3")],
        ["instrumental", linkOf("i.mp3")],
      ]);
    });
  }

  it("returns every saved file when the job does not have the nodes", async () => {
    const outputs = { "5": { audio: [saved("a.mp3")] }, "6": { images: [saved("b.png")] } };
    await says({ status: "completed", outputs })(fake);
    const found = await bench.lookup("att_1");
    const snapshot = found.state === "accepted" ? await bench.poll(found.handle) : found;
    const tracks = snapshot.state === "completed" ? snapshot.tracks : [];
    expect(tracks.map(({ assets: [asset] }) => asset?.source)).to.deep.equal([linkOf("a.mp3")]);
  });

  it("looks up as absent only what is neither a job nor in the queue nor in the history", async () => {
    fake.on(JOB.method, JOB.path, json({ error: "Job not found" }, { status: 404 }));
    expect(await bench.lookup("att_1")).to.deep.equal({ state: "absent" });
    const [id = ""] = fake.calls(HISTORY).map(({ path }) => path.slice("/history/".length));
    fake.on(QUEUE.method, QUEUE.path, queueOf([], [id]));
    expect((await bench.lookup("att_1")).state).to.equal("accepted");
    fake.on(QUEUE.method, QUEUE.path, queueOf([]));
    const item = { prompt: [], outputs: {}, status: { status_str: "success" } };
    fake.on(HISTORY.method, HISTORY.path, json({ [id]: item }));
    expect((await bench.lookup("att_1")).state).to.equal("accepted");
    for (const [route, response] of [
      [QUEUE, text("404: Not Found", { status: 404 })],
      [QUEUE, json({})],
      [HISTORY, json([])],
    ] as const) {
      fake.instead(route, response);
      expect((await failureOf(bench.lookup("att_1"))).kind).to.equal("unavailable");
    }
  });

  it("polls by the server's id when it ignores ours", async () => {
    fake.on(PROMPT.method, PROMPT.path, json({ prompt_id: "of/its own", number: 1, node_errors: {} }));
    const handle = await bench.accepted();
    await says({ status: "pending" })(fake);
    expect((await bench.poll(handle)).state).to.equal("running");
    expect(fake.calls(JOB).map(({ path }) => path)).to.deep.equal(["/api/jobs/of%2Fits%20own"]);
  });

  it("names the node and the exception of a failed job", async () => {
    const handle = await bench.accepted();
    const error = { exception_type: "ValueError", exception_message: "bad\nlength", node_type: "VAEDecodeAudio" };
    await says({ status: "failed", execution_error: { ...error, traceback: ["  File"] } })(fake);
    const { providerCode, message } = await failureOf(bench.poll(handle));
    expect(providerCode).to.equal("ValueError");
    expect(message).to.equal("The job failed: ValueError: bad length: VAEDecodeAudio");
  });

  it("names the node and the input of a rejected prompt", async () => {
    const errors = [{ type: "required_input_missing", message: "Required input is missing", details: "bpm" }];
    const error = { type: "prompt_outputs_failed_validation", message: "Validation failed", details: "" };
    const body = { error, node_errors: { "3": { errors, class_type: "Encode" } } };
    fake.on(PROMPT.method, PROMPT.path, json(body, { status: 400 }));
    const failure = await failureOf(bench.submit(aMusicRequest(aModel())));
    expect([failure.kind, failure.providerCode]).to.deep.equal(["invalid_input", "prompt_outputs_failed_validation"]);
    expect(failure.message).to.include("node 3 (Encode): bpm");
  });

  it("interrupts only its own job on an older server, and removes a waiting one from the queue", async () => {
    await acceptsOld(fake);
    const handle = await bench.accepted();
    const [id = ""] = promptIds(fake);
    fake.on(CANCEL.method, CANCEL.path, text("404: Not Found", { status: 404 }));
    fake.on(INTERRUPT.method, INTERRUPT.path, text(""));
    fake.on("POST", QUEUE.path, text(""));
    fake.on(QUEUE.method, QUEUE.path, queueOf(["another"], [id]));
    expect(await bench.cancel(handle)).to.equal("requested");
    expect(fake.calls(INTERRUPT)).to.have.lengthOf(0);
    expect(fake.calls({ method: "POST", path: QUEUE.path }).map(bodyOf)).to.deep.equal([{ delete: [id] }]);
    fake.on(QUEUE.method, QUEUE.path, queueOf([id], ["another"]));
    expect(await bench.cancel(handle)).to.equal("requested");
    expect(fake.calls(INTERRUPT).map(bodyOf)).to.deep.equal([{ prompt_id: id }]);
    fake.on(QUEUE.method, QUEUE.path, queueOf(["another"]));
    expect(await bench.cancel(handle)).to.equal("too_late");
  });

  describe("the probe", () => {
    const up = (info: Json): void => {
      fake.on(STATS.method, STATS.path, json({ system: { comfyui_version: "0.9.1" } }));
      fake.on(INFO.method, INFO.path, json(info));
    };

    it("names nodes and files of the workflows that the server lacks", async () => {
      bench.start(STEM_SETTINGS);
      const { KSampler: _, ...others } = INSTALLED;
      const loader = { input: { required: { ckpt_name: ["COMBO", { options: ["sd_xl.safetensors"] }] } } };
      up({ ...others, CheckpointLoaderSimple: loader, LoadAudio: {} });
      expect((await bench.probe()).warnings).to.deep.equal([
        "comfyui/ace-step-v1.5-turbo: the server has no node KSampler; update it, or install its node pack",
        "comfyui/ace-step-v1.5-turbo: the server has no file ace_step_1.5_turbo_aio.safetensors among its models",
        "stemWorkflow: the server has no node Separator; update it, or install its node pack",
      ]);
      bench.start();
      up(INSTALLED);
      expect(await bench.probe()).to.deep.equal({ credit: null, warnings: [] });
    });

    it("reports a server that is no ComfyUI as misconfigured", async () => {
      for (const response of [json({ status: "ok" }), json({ detail: "Not Found" }, { status: 404 })]) {
        fake.on(STATS.method, STATS.path, response);
        expect((await failureOf(bench.probe())).kind).to.equal("misconfigured");
      }
    });
  });
});
