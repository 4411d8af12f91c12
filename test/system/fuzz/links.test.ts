import { expect } from "chai";
import { createHmac, timingSafeEqual } from "node:crypto";
import fc from "fast-check";
import { Agent } from "node:http";
import { type MusicProvider, type ReceivedCallback } from "../../../core/ports/music-provider.js";
import { dataOf } from "../../support/api-client.js";
import { SCRIPTED_TRACK, ScriptedProvider, submitAccepts } from "../../support/doubles/scripted-provider.js";
import { fuzzed } from "../../support/fuzz/fuzz.js";
import { type FuzzResponse, sendRaw } from "../../support/fuzz/send.js";
import { changedText, textChanges } from "../../support/fuzz/texts.js";
import { aChord, wavFile } from "../../support/audio-files.js";
import { UNHEARD } from "../../support/library-fixture.js";
import { importTrack } from "../../support/library-import.js";
import { startTestApp, type TestApp } from "../../support/test-app.js";

const HOUR = 3_600_000;
const SECRET = "secret of the signatures";
const METHODS = fc.constantFrom("GET", "GET", "GET", "HEAD", "POST", "OPTIONS");
const RANGES = fc.constantFrom([], [], [["Range", "bytes=0-9"] as const], [["If-None-Match", "*"] as const]);

function signatureOf(body: Uint8Array): string {
  return createHmac("sha256", SECRET).update(body).digest("hex");
}

/** Signs its callbacks: only a verified one ends its work. */
class Signing extends ScriptedProvider {
  override readonly definition = {
    ...this.define("scripted"),
    capabilities: { idempotentSubmit: true, lookup: false, cancel: false, callbacks: "signed" as const },
  };

  readonly parseCallback: MusicProvider["parseCallback"] = ({ headers, body }: ReceivedCallback) => {
    const [given, expected] = [headers["x-signature"] ?? "", signatureOf(body)].map((text) => Buffer.from(text));
    const holds = given?.length === expected?.length && timingSafeEqual(given as Buffer, expected as Buffer);
    if (!holds) return Promise.resolve({ trust: "forged", reason: "the signature does not hold" });
    return Promise.resolve({ trust: "verified", snapshot: { state: "completed", tracks: [SCRIPTED_TRACK] } });
  };
}

/** What a link stands for: two texts with the same are the same link. */
function meaningOf(link: string): string {
  // With a base in its own argument, a path of two slashes would name a host.
  const { pathname, searchParams } = new URL(`http://x${link}`);
  const names = ["expires", "signature", "key", "generation"];
  const parts = names.map((name) => `${name}=${searchParams.getAll(name).join()}`);
  try {
    return [decodeURIComponent(pathname), ...parts].join("\n");
  } catch {
    return "no link";
  }
}

describe("Links and callbacks that were changed", function () {
  this.timeout(600_000);
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  const wav = Buffer.from(wavFile(aChord(0.1, () => 0.5, { channelCount: 1, sampleRate: 8_000 })));
  let test: TestApp;
  let provider: Signing;
  let links: readonly string[];
  let shared: readonly string[];
  let callback: string;
  let jobId: string;
  let status: () => Promise<string>;

  before(async () => {
    provider = new Signing();
    provider.behaviour = submitAccepts(HOUR);
    provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: HOUR });
    const limits = { authFailures: { perMinute: 1_000_000 } };
    const settings = { http: { port: 0, publicUrl: "https://music.example" }, rateLimits: limits };
    test = await startTestApp({ ...UNHEARD, work: true, plugins: [provider.definition], settings });
    const { api, account } = await test.account();
    const own = await importTrack(test.app, { audio: wav, ending: "wav", ...{ account: account.id } });
    const track = dataOf<{ play_url: string }>(await api.get(`/api/v1/tracks/${own}`));
    links = [pathOf(track.play_url)];
    const { shareToken } = await test.app.library.manage.share(
      await importTrack(test.app, { audio: wav, ending: "wav" }),
    );
    shared = ["", "/audio"].map((end) => `/share/${shareToken}${end}`);
    jobId = dataOf<{ id: string }>(await api.generate()).id;
    await provider.submitted(1);
    callback = pathOf(provider.submissions[0]?.callbackUrl ?? "");
    status = async () => dataOf<{ status: string }>(await api.get(`/api/v1/jobs/${jobId}`)).status;
  });
  after(async () => {
    agent.destroy();
    await test.close();
  });
  afterEach(() => {
    expect(test.logger.lines.filter(({ level }) => level === "error")).to.deep.equal([]);
  });

  const pathOf = (url: string): string => url.replace("https://music.example", "");
  const send = (
    method: string,
    path: string,
    headers: readonly (readonly [string, string])[] = [],
    body: string | Uint8Array | null = null,
  ): Promise<FuzzResponse> =>
    sendRaw(test.url, agent, { method, path: path.replaceAll(/[^\x21-\x7e]/g, encodeURIComponent), headers, body });
  const expectNoBytes = ({ status: code, body }: FuzzResponse, path: string): void => {
    expect(code, path).to.be.below(500);
    expect(body.includes(wav.subarray(44, 144)), `bytes at ${path}`).to.equal(false);
    expect(code, path).to.not.equal(206);
  };

  it("are tried on links that work", async () => {
    for (const path of [...links, ...shared]) expect((await send("GET", path)).status, path).to.equal(200);
    expect((await send("GET", links[0] ?? "")).body.includes(wav.subarray(44, 144))).to.equal(true);
  });

  fuzzed(
    "give no bytes of a signed link to audio",
    { short: 150, long: 10_000 },
    () => fc.record({ changes: textChanges, method: METHODS, headers: RANGES }),
    async ({ changes, method, headers }) => {
      const [link = ""] = links;
      const other = changedText(link.slice(1), changes);
      if (meaningOf(`/${other}`) === meaningOf(link)) return;
      const response = await send(method, `/${other}`, headers);
      expectNoBytes(response, other);
    },
  );

  fuzzed(
    "give no page and no bytes of a shared track",
    { short: 100, long: 5_000 },
    () => fc.record({ which: fc.nat(1), changes: textChanges, method: METHODS, headers: RANGES }),
    async ({ which, changes, method, headers }) => {
      const path = shared[which] ?? "";
      const [, , token = "", ...rest] = path.split("/");
      const other = changedText(token, changes);
      if (other === token || meaningOf(`/share/${other}`).split(/[\n?#]/)[0] === `/share/${token}`) return;
      const response = await send(method, ["/share", other, ...rest].join("/"), headers);
      expectNoBytes(response, other);
      expect(response.body.toString(), other).to.not.include("Nightingale");
    },
  );

  fuzzed(
    "change no job, wherever a callback is sent and however it is signed",
    { short: 150, long: 5_000 },
    () =>
      fc.record({
        changes: fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: textChanges }),
        method: fc.constantFrom("POST", "POST", "POST", "PUT", "GET"),
        body: fc.oneof(
          fc.jsonValue().map((value) => JSON.stringify(value)),
          fc.uint8Array({ maxLength: 60 }),
        ),
        signature: fc.oneof(fc.constant(null), fc.string({ unit: "binary-ascii", maxLength: 64 }), textChanges),
        type: fc.constantFrom("application/json", "text/plain", "multipart/form-data; boundary=x", "x"),
      }),
    async ({ changes, method, body, signature, type }) => {
      const path = `/${changedText(callback.slice(1), changes)}`;
      const isSame = meaningOf(path).split("\n")[0] === callback;
      const valid = signatureOf(Buffer.from(body));
      // Signed rightly where the address is wrong, and wrongly where it is right.
      const text = Array.isArray(signature) ? changedText(valid, signature) : (signature ?? valid);
      const sent = isSame && text.trim() === valid ? "no signature" : text;
      const headers = [
        ["Content-Type", type] as const,
        ["X-Signature", sent.replaceAll(/[^\x20-\x7e]/g, "~")] as const,
      ];
      const response = await send(method, path, headers, body);
      expect(response.status, path).to.be.below(500);
      expect(await status()).to.equal("processing");
    },
  );

  it("leave the job to a callback that is signed", async () => {
    // Of so many callbacks not all are stored; each makes the job due for a poll.
    provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    const ended = new Promise<void>((resolve) =>
      test.app.events.on("job.ended", ({ generation }) => (generation.id === jobId ? resolve() : undefined)),
    );
    const body = Buffer.from("{}");
    expect((await send("POST", callback, [["X-Signature", signatureOf(body)]], body)).status).to.equal(200);
    await ended;
    expect(await status()).to.equal("completed");
  });
});
