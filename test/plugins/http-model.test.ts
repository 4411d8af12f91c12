import { expect } from "chai";
import type { MusicRequest, ProviderHost, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/http-model/index.js";
import { storableResult } from "../../core/results/stored-result.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { aMusicRequest, FakeApi, json, providerHost, settingsOf } from "../support/provider-kit/index.js";
import { CHOOSING, documented, foreign, immediate, MODEL, SUBMIT } from "./http-model-support.js";

musicProviderContract("http-model, the documented protocol", documented());
musicProviderContract("http-model, a server of another shape", foreign());
musicProviderContract("http-model, a server that answers the file", immediate());

describe("http-model: what is sent", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
  });
  afterEach(() => fake.close());

  /** The body and the path of one submission. */
  async function sent(
    settings: Record<string, string>,
    parts: Partial<MusicRequest> = {},
  ): Promise<{ readonly body: unknown; readonly headers: Record<string, string> }> {
    fake.on("POST", "/*", json({ id: "1" }));
    const provider = definition.create(
      providerHost({ settings: settingsOf(definition, { baseUrl: fake.url, ...settings }) }),
    );
    await provider.submit(aMusicRequest(MODEL, { jobId: "job_7", attemptId: "att_7", ...parts }), {
      signal: new AbortController().signal,
    });
    const [request] = fake.requests;
    return { body: request?.json, headers: { ...request?.headers } };
  }

  it("is the documented body, what has no value left out", async () => {
    const { body, headers } = await sent(
      {},
      { prompt: 'say "hi"\n{{lyrics}}', lyrics: null, durationSeconds: 12, instrumental: true },
    );
    expect(body).to.deep.equal({
      job_id: "job_7",
      attempt_id: "att_7",
      model: "facebook/musicgen-large",
      prompt: 'say "hi"\n{{lyrics}}',
      duration: 12,
      instrumental: true,
    });
    expect(headers)
      .to.include({ "idempotency-key": "job_7", "content-type": "application/json" })
      .and.not.have.property("authorization");
    expect(fake.calls(SUBMIT)).to.have.lengthOf(1);
  });

  it("is the operator's template, with values of their own type and text around others", async () => {
    const request =
      '{"a":["{{options.seed}}","{{callback_url}}",{"b":"{{instrumental}}"}],"c":"{{prompt}} for {{duration}} ' +
      's{{callback_url}}","d":"{{options.none}}","e":null,"f":1}';
    const { body } = await sent({ request }, { prompt: "rain", durationSeconds: 5, instrumental: false });
    expect(body).to.deep.equal({ a: [7, { b: false }], c: "rain for 5 s", e: null, f: 1 });
  });

  it("has what the caller chose, under its own placeholder and all together, and nothing else", async () => {
    const request =
      '{"seed":"{{options.seed}}","voice":"{{options.voice}}","as":"{{options.format}}",' +
      '"say":"{{options.voice}} {{options}}","all":"{{options}}"}';
    const undeclared = { voice: "alto", temperature: 2 };
    expect((await sent({ request }, { model: CHOOSING, options: undeclared })).body).to.deep.equal({
      voice: "alto",
      as: "wav",
      say: 'alto {"voice":"alto"}',
      all: { voice: "alto" },
    });
    fake.requests.length = 0;
    expect((await sent({ request }, { model: CHOOSING })).body).to.deep.equal({ as: "wav", say: " " });
  });

  it("goes to the path with the model's name in it, its slashes kept", async () => {
    const upstream = "acme/step 1?";
    await sent({ submitPath: "/predict/{{ model }}/go/{{model}}" }, { model: { ...MODEL, upstream } });
    expect(fake.requests.map(({ path }) => path)).to.deep.equal(["/predict/acme/step%201%3F/go/acme/step%201%3F"]);
  });

  it("carries the key as the server wants it", async () => {
    expect((await sent({ apiKey: "abc123", authHeader: "X-Token", authScheme: "" })).headers).to.include({
      "x-token": "abc123",
    });
    fake.requests.length = 0;
    expect((await sent({ apiKey: "abc123", authScheme: "Token" })).headers).to.include({
      authorization: "Token abc123",
    });
  });

  it("comes back as a result that outlives its worker, where there is no key", async () => {
    fake.on("POST", "/*", json({ status: "succeeded", tracks: [{ audio_url: "/files/a.mp3" }] }));
    const settings = settingsOf(definition, { baseUrl: fake.url });
    const reply = await definition
      .create(providerHost({ settings }))
      .submit(aMusicRequest(MODEL), { signal: new AbortController().signal });
    if (reply.state !== "completed") return expect.fail("It is done.");
    expect(storableResult(reply)).to.equal(reply);
  });
});

describe("http-model: settings", () => {
  const created =
    (settings: Record<string, string>): (() => unknown) =>
    () =>
      definition.create(
        providerHost({ settings: settingsOf(definition, { baseUrl: "http://127.0.0.1:1", ...settings }) }),
      );

  it("names everything that is wrong with a mapping, a line each", () => {
    const wrong = {
      baseUrl: "gpu-box",
      statusPath: "/status",
      cancelPath: "cancel/{{id}}",
      submitPath: "/{{prompt}}",
      idPointer: "id",
      titlePointer: "/a~b",
      request: '{"prompt":"{{promt}}"}',
      statusWords: '{"done":"ready","busy":"running"}',
      authHeader: "X Token",
    };
    expect(created(wrong)).to.throw(
      [
        'baseUrl: "gpu-box"; allowed: an http or https URL',
        'submitPath: "/{{prompt}}"; there is no {{prompt}}; allowed: {{model}}',
        'statusPath: "/status"; allowed: a path with {{id}} in it',
        'cancelPath: "cancel/{{id}}"; allowed: a path that begins with /',
        'idPointer: "id"; allowed: empty for the whole, or a JSON pointer such as /output/0',
        'titlePointer: "/a~b"; in a JSON pointer, ~ is written ~0 and / is written ~1',
        'request: "{\\"prompt\\":\\"{{promt}}\\"}"; there is no {{promt}}; its README lists the placeholders',
        'statusWords: "{\\"done\\":\\"ready\\",\\"busy\\":\\"running\\"}"; done: allowed: running, completed, ' +
          "failed, cancelled, timeout, content_rejected, gone",
        'statusWords: "{\\"done\\":\\"ready\\",\\"busy\\":\\"running\\"}"; no word means completed',
        'authHeader: "X Token"; allowed: the name of a header',
      ].join("\n"),
    );
  });

  it("names a placeholder that no model has an option for, and an option that would never be sent", () => {
    const created = (request: string, models: readonly ProviderModel[]) => (): unknown =>
      definition.create(
        providerHost({ models, settings: settingsOf(definition, { baseUrl: "http://127.0.0.1:1", request }) }),
      );
    const request = '{"a":"{{options.sede}}","b":"{{options.format}}","c":"{{options.seed}}"}';
    expect(created(request, [MODEL, CHOOSING])).to.throw(
      [
        `request: ${JSON.stringify(request)}; no model has {{options.sede}} in its options or requestOptions`,
        ...["negative_prompt", "voice", "loop"].map(
          (name) =>
            `request: ${JSON.stringify(request)}; ` +
            `http-model/choosing has requestOptions.${name}, and there is no {{options.${name}}}`,
        ),
      ].join("\n"),
    );
    expect(created('{"a":"{{options.voice}}"}', [MODEL])).to.throw(/no model has \{\{options\.voice\}\}/);
    expect(created('{"a":"{{options}}","b":"{{options.format}}"}', [MODEL, CHOOSING])).to.not.throw();
  });

  it("refuses an option that is the operator's and the caller's", () => {
    expect(definition.checkModel?.(CHOOSING)).to.equal(null);
    expect(definition.checkModel?.({ ...CHOOSING, options: { loop: true } })).to.equal(
      "has options.loop and requestOptions.loop; allowed: one of them, the first as the default of the second",
    );
  });

  for (const [what, settings] of [
    ["a template that is no JSON", { request: '{"prompt": {{prompt}}}' }],
    ["a template that is no object", { request: "7" }],
    ["a placeholder that is none", { request: '{"a":"{{prompt | upper}}"}' }],
    ["an option in a path", { submitPath: "/v1/{{options.voice}}" }],
    ["the model in the path of work", { statusPath: "/v1/{{model}}/{{id}}" }],
    ["a name with blanks in it in a path", { cancelPath: "/v1/{{id}}/{{the id}}" }],
    ["status words that are no object", { statusWords: "[]" }],
    ["a base URL of another scheme", { baseUrl: "ftp://gpu-box" }],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(created(settings)).to.throw(new RegExp(`^${Object.keys(settings)[0]}: `));
    });
  }

  it("refuses a model with options that no placeholder can name", () => {
    expect(definition.checkModel?.(MODEL)).to.equal(null);
    expect(definition.checkModel?.({ ...MODEL, options: { seed: 1, nested: {} } })).to.equal(
      "options.nested: allowed: text, numbers, booleans, by names of letters, digits, _ and -",
    );
  });

  it("is idempotent, cancels and hears callbacks as far as the operator says so", () => {
    const { capabilities, concurrency } = definition;
    if (typeof capabilities !== "function" || typeof concurrency !== "function")
      throw new Error("both go by the settings");
    const given = (settings: ProviderHost["settings"]): ProviderHost["settings"] => settingsOf(definition, settings);
    expect(capabilities(given({}))).to.deep.equal({
      idempotentSubmit: false,
      lookup: false,
      cancel: false,
      callbacks: "none",
    });
    expect(capabilities(given({ idempotent: true, cancelPath: "/x/{{id}}", callbacks: true }))).to.deep.equal({
      idempotentSubmit: true,
      lookup: false,
      cancel: true,
      callbacks: "hints",
    });
    expect([concurrency(given({})), concurrency(given({ concurrency: 3 }))]).to.deep.equal([1, 3]);
  });
});
