import { readdir } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Socket } from "node:net";
import { expect } from "chai";
import { SystemClock } from "../../../adapters/system/clock.js";
import type { AdapterHost } from "../../../core/ports/adapter.js";
import type { AudioStore } from "../../../core/ports/audio-store.js";
import { TEST_PORTS } from "../../support/databases.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";
import { type ExampleAdapters, exampleAdapters, type ExampleServer } from "../../support/example-adapters.js";
import { eventually } from "../../support/process.js";
import { openRelayTo } from "../../support/relay.js";
import { freePort } from "../../support/services.js";

const AUDIO = "http-put-audio/audio.js";

describe("http-put-audio, an example of an adapter, with the packed package", function () {
  this.timeout(120_000);
  let app: ExampleAdapters;
  let server: ExampleServer;
  let audioUrl: string;
  before(async () => {
    app = await exampleAdapters();
    server = await app.startAudioServer();
    audioUrl = server.url;
  });
  after(() => server.stop());

  const aStore = (url: string, given: AdapterHost["settings"] = {}): Promise<AudioStore> =>
    app.open(AUDIO, url, { token: server.token, ...given }, new RecordingLogger());

  const errorOf = (work: Promise<unknown>): Promise<Error> =>
    work.then(
      () => new Error("It succeeded."),
      (error: Error) => error,
    );

  async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
    const parts: Uint8Array[] = [];
    for await (const part of source) parts.push(part);
    return Buffer.concat(parts).toString();
  }

  it("keeps its contract, and leaves nothing open", () =>
    app.contract("http-put-audio", { AUDIO_URL: audioUrl, TOKEN: server.token }));

  it("keeps the earlier file, and no part of the new one, when the connection is cut in the middle", async () => {
    const { hostname, port } = new URL(audioUrl);
    const relay = await openRelayTo({ host: hostname, port: Number(port) });
    const store = await aStore(`http://${relay.address}`);
    await store.put("trk_cut/mix.mp3", Buffer.from("the earlier one"), 100);
    async function* cutOff(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("the new ");
      const files = (): Promise<string[]> => readdir(server.files);
      await eventually("begun", async () => (await files()).some((name) => name.startsWith(".upload-")));
      relay.cut();
      yield Buffer.from("one");
    }
    expect(await errorOf(store.put("trk_cut/mix.mp3", cutOff(), 100)))
      .to.have.property("name")
      .that.equals("ServiceUnavailableError");
    expect(await textOf(store.read("trk_cut/mix.mp3"))).to.equal("the earlier one");
    await eventually("removed", async () =>
      (await readdir(server.files)).every((name) => !name.startsWith(".upload-")),
    );
    await relay.close();
  });

  it("gives up a server that is silent, in every operation", async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket.on("error", () => undefined)));
    const port = await freePort();
    await new Promise<void>((resolve) => silent.listen(port, "127.0.0.1", resolve));
    const store = await aStore(`http://127.0.0.1:${port}/`, { timeoutMs: 200 });
    async function* some(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("some");
    }
    for (const [name, work] of [
      ["PUT", () => store.put("a.mp3", Buffer.from("all"), 10)],
      ["PUT", () => store.put("a.mp3", some(), 10)],
      ["HEAD", () => store.stat("a.mp3")],
      ["GET", () => textOf(store.read("a.mp3"))],
      ["DELETE", () => store.delete("a.mp3")],
      ["GET", () => store.list(null, 10)],
    ] as const) {
      const { cause } = await errorOf(work());
      expect(String(cause)).to.include(`did not serve ${name} `).and.to.include("nothing happened for 200 ms");
    }
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  it("takes no whole file for a part of it, from a server that does not understand ranges", async () => {
    const whole = createHttpServer((_request, response) => void response.end("0123456789"));
    const port = await freePort();
    await new Promise<void>((resolve) => whole.listen(port, "127.0.0.1", resolve));
    const store = await aStore(`http://127.0.0.1:${port}/`);
    expect(await textOf(store.read("a.mp3"))).to.equal("0123456789");
    const { cause } = await errorOf(textOf(store.read("a.mp3", { start: 3, end: 5 })));
    expect(String(cause)).to.include("status 200");
    whole.closeAllConnections();
    await new Promise((resolve) => whole.close(resolve));
  });

  it("waits for a source that is slower than the server may be", async () => {
    // A server on a busy machine may take a moment of its own.
    const store = await aStore(audioUrl, { timeoutMs: 1_000 });
    const clock = new SystemClock();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("late ");
      await clock.sleep(2_500);
      yield Buffer.from("words");
    }
    await store.put("slow.mp3", slow(), 100);
    expect(await textOf(store.read("slow.mp3"))).to.equal("late words");
  });

  it("shows neither the token nor what is in the URL in an error", async () => {
    const refused = await errorOf((await aStore(audioUrl, { token: "another-hidden-word" })).stat("a.mp3"));
    expect(String(refused.cause)).to.include("status 401").and.not.include("hidden");
    const errors = [
      await errorOf(aStore(audioUrl.replace("//", "//alice:hidden-word@"))),
      await errorOf(aStore(`${audioUrl}?signature=hidden-word`)),
      await errorOf(aStore(audioUrl, { token: "hidden\nword" })),
    ];
    for (const { message } of errors) expect(message).to.include("allowed is").and.not.include("hidden");
  });

  it("is looked at by doctor, which leaves no file", async () => {
    const { check } = await app.definitionOf(AUDIO);
    const look = async (token: string) =>
      (await check?.({
        ...{ url: audioUrl, settings: { token, timeoutMs: 1_000 }, logger: new RecordingLogger() },
        ...{ ...TEST_PORTS, dataDir: "/nonexistent", providerIds: [] },
      })) ?? [];
    expect((await look(server.token)).map(({ result }) => result)).to.deep.equal(["ok"]);
    expect((await readdir(server.files)).filter((name) => name.startsWith("doctor"))).to.be.empty;
    const [refused] = await look("hidden-word");
    expect(refused).to.include({ result: "failed" }).and.to.have.property("message").that.includes("status 401");
  });
});
