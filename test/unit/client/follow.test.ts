import { expect } from "chai";
import { Follower, type FollowDeps, type Progress, type WaitOptions } from "../../../adapters/client/follow.js";
import type { Schemas } from "../../../adapters/client/index.js";
import { sleep } from "../../../adapters/client/wait.js";

type Stream = (signal: AbortSignal) => Response | Promise<Response>;

const job = (status: string): Schemas["Job"] => ({ job_id: "job_1", status }) as Schemas["Job"];
const OUTLOOK = 'event: outlook\ndata: {"state":"rendering","percent":40}\n\n';
const ACCEPTED = "id: accepted\nevent: accepted\ndata: {}\n\n";
const COMPLETED = `id: completed\nevent: completed\ndata: ${JSON.stringify({ job: job("completed") })}\n\n`;

/** A stream of these chunks; it stays open where the last is null. */
function streamOf(...chunks: readonly (string | null)[]): Stream {
  return (signal) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        signal.addEventListener("abort", () => controller.error(new Error("aborted")));
        for (const chunk of chunks) if (chunk !== null) controller.enqueue(new TextEncoder().encode(chunk));
        if (chunks.at(-1) !== null) controller.close();
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream; charset=utf-8" } });
  };
}
const status =
  (code: number): Stream =>
  () =>
    new Response(null, { status: code });

function scripted(streams: readonly Stream[], polls: readonly string[] = [], deps: Partial<FollowDeps> = {}) {
  const ids: (string | null)[] = [];
  const waits: number[] = [];
  const progress: Partial<Progress>[] = [];
  let polled = 0;
  const all: FollowDeps = {
    openStream: async (_, lastEventId, signal) => {
      ids.push(lastEventId);
      return (streams[ids.length - 1] as Stream)(signal);
    },
    getJob: () => Promise.resolve(job(polls[polled++] as string)),
    sleep: (ms) => Promise.resolve(void waits.push(ms)),
    silenceMs: 60_000,
    pollMs: 2_000,
    ...deps,
  };
  const end = (options: WaitOptions = {}) =>
    new Follower(all, "job_1", { onProgress: (each) => progress.push(each), ...options }).end();
  return { end, ids, waits, progress, polls: () => polled };
}

describe("The client follows a job", () => {
  it("by its stream, whatever chunks it comes in", async () => {
    const text = `retry: 2000\n\n${ACCEPTED}: still here\n\n${OUTLOOK}${COMPLETED}`;
    const server = scripted([streamOf(...text)]);
    expect(await server.end()).to.deep.equal(job("completed"));
    expect([server.progress, server.polls()]).to.deep.equal([[{ state: "rendering", percent: 40 }], 0]);
  });

  it("goes on after the last event that it has, when the stream was cut off", async () => {
    const server = scripted([streamOf("retry: 7\n\n", ACCEPTED, "id: half\neve"), streamOf(COMPLETED)]);
    expect((await server.end()).status).to.equal("completed");
    expect([server.ids, server.waits]).to.deep.equal([[null, "accepted"], [7]]);
  });

  it("polls where streams bring nothing new, three times in a row", async () => {
    const fails: Stream = () => Promise.reject(new TypeError("fetch failed"));
    const server = scripted([streamOf(OUTLOOK), fails, streamOf()], ["queued", "processing", "failed"]);
    expect((await server.end()).status).to.equal("failed");
    expect([server.ids.length, server.polls()]).to.deep.equal([3, 3]);
    expect(server.progress.map(({ state }) => state)).to.deep.equal(["rendering", "waiting", "rendering"]);
  });

  it("polls where there is no stream: too many, an unknown address, a page of a proxy, none needed", async () => {
    const page: Stream = () => new Response("<h1>Sign in</h1>", { headers: { "Content-Type": "text/html" } });
    for (const stream of [status(429), status(404), status(204), page]) {
      const server = scripted([stream], ["processing", "completed"]);
      expect((await server.end()).status).to.equal("completed");
      expect([server.ids.length, server.waits]).to.deep.equal([1, [2_000]]);
    }
  });

  it("polls where a proxy holds the stream back", async () => {
    const server = scripted([streamOf(null)], ["completed"], { silenceMs: 1 });
    expect((await server.end()).status).to.equal("completed");
    expect([server.ids.length, server.polls()]).to.deep.equal([1, 1]);
  });

  it("until the signal aborts: in the stream as well as between two polls", async () => {
    for (const streams of [[streamOf(ACCEPTED, null)], [status(429)]]) {
      const aborting = new AbortController();
      const server = scripted(streams, ["processing"], { sleep });
      const ended = server.end({ signal: aborting.signal }).catch((error: Error) => error.name);
      setImmediate(() => aborting.abort());
      expect(await ended).to.equal("AbortError");
    }
  });

  it("and throws what onProgress throws", async () => {
    const server = scripted([streamOf(OUTLOOK, COMPLETED)]);
    const mine = new Error("mine");
    const onProgress = (): never => {
      throw mine;
    };
    expect(await server.end({ onProgress }).catch((error: unknown) => error)).to.equal(mine);
  });
});
