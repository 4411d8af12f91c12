import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import {
  attackPipelining,
  AttackTarget,
  attackUnread,
  measured,
  RawConnection,
  sized,
} from "../../support/attack/index.js";
import { filesUnder, useSandbox } from "../../support/process.js";
import { tinyMp3 } from "../../support/provider-kit/index.js";

const MIB = 1024 * 1024;
/** More than the system's buffers between two ends of a connection. */
const AUDIO_BYTES = 32 * MIB;
const CONCURRENT_MAX = 64;

describe("Responses that the client does not read", function () {
  this.timeout(180_000);
  const sandbox = useSandbox();

  /** A process that shares a track of 32 MiB. */
  async function sharing(stalledSeconds: string): Promise<{ readonly target: AttackTarget; readonly path: string }> {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    await writeFile(join(dataDir, "mix.mp3"), tinyMp3());
    const library = join(dataDir, "library.json");
    const texts = { ref: "a", title: "Rain", artist_label: "Nightingale" };
    const track = { ...texts, account: null, visibility: "public", audio_file: "mix.mp3" };
    await writeFile(library, JSON.stringify({ tracks: [track] }));
    const run = <T>(...args: string[]): Promise<T> => sandbox.json<T>(["library", ...args], dataDir);
    const { tracks } = await run<{ tracks: { id: string }[] }>("import", library);
    const { share_url: url } = await run<{ share_url: string }>("share", tracks[0]?.id ?? "");
    const mix = (await filesUnder(join(dataDir, "audio"))).find((file) => file.endsWith(".mp3")) ?? "";
    await truncate(join(dataDir, "audio", mix), AUDIO_BYTES);
    const fermata = sandbox.spawn(["start"], dataDir, { FERMATA_HTTP__STALLED_RESPONSE_SECONDS: stalledSeconds });
    const target = new AttackTarget(fermata, await fermata.listening());
    return { target, path: `${new URL(url).pathname}/audio` };
  }

  it("are aborted after http.stalledResponseSeconds, their files closed, and their number is limited", async () => {
    const { target, path } = await sharing(sized("2", "10"));
    await target.hasAccepted();
    const before = await target.descriptors();
    const connections = sized(100, 300);
    const { result, figures } = await measured("unread audio", target, async () => {
      const attack = await attackUnread(target, { connections, path });
      await target.hasAccepted();
      await target.descriptorsBackTo(before);
      return attack;
    });
    for (const connection of result.connections) connection.read();
    await Promise.all(result.connections.map(({ closed }) => closed));
    const statuses = result.connections.map((connection) => connection.statuses[0]);
    expect(statuses.filter((status) => status === 200)).to.have.length.at.most(CONCURRENT_MAX);
    expect(statuses.filter((status) => status === 429)).to.have.length.at.least(connections - CONCURRENT_MAX);
    for (const { text } of result.connections) expect(text.length).to.be.below(AUDIO_BYTES);
    expect(figures.rssPeakBytes - figures.rssBeforeBytes).to.be.below(150 * MIB);
  });

  it("behind an unread one on the same connection are aborted with it", async () => {
    const { target, path } = await sharing("2");
    await target.hasAccepted();
    const before = await target.descriptors();
    await measured("unread audio, pipelined", target, async () => {
      await attackPipelining(target, { connections: 4, requests: 16, path });
      await target.hasAccepted();
      await target.descriptorsBackTo(before);
    });
    // Their share of the budget is free again.
    const again = await RawConnection.open(target.url, { reads: true });
    again.send(`HEAD ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await again.closed;
    expect(again.statuses).to.deep.equal([200]);
  });
});
