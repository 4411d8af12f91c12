import { mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import sinon from "sinon";
import { LocalAudioStore } from "../../adapters/audio/local/audio-store.js";
import { filesBehind } from "../../adapters/audio/local/files-in-order.js";
import { audioStoreContract } from "../contract/audio-store.contract.js";

const aDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), "fermata-audio-"));

audioStoreContract("LocalAudioStore", async () => {
  const directory = await aDirectory();
  const store = await LocalAudioStore.open(join(directory, "audio"));
  return { store, close: () => rm(directory, { recursive: true }) };
});

describe("LocalAudioStore", () => {
  let directory: string;
  let root: string;

  beforeEach(async () => {
    directory = await aDirectory();
    root = join(directory, "made", "on", "opening");
  });

  afterEach(() => rm(directory, { recursive: true }));

  const bytes = Buffer.from("some audio");

  it("lays a key's file where the key says", async () => {
    const store = await LocalAudioStore.open(root);
    await store.put("trk_1/stems/drums.wav", bytes, 100);
    expect(await readFile(join(root, "trk_1", "stems", "drums.wav"))).to.deep.equal(bytes);
  });

  it("leaves no unfinished file behind, whatever goes wrong", async () => {
    const store = await LocalAudioStore.open(root);
    await store.put("trk_1/mix.mp3", bytes, 100);
    await mkdir(join(root, "trk_1", "taken"));
    const failures = await Promise.allSettled([
      store.put("trk_1/big.mp3", bytes, 3),
      store.put("trk_1/mix.mp3/under-a-file.mp3", bytes, 100),
      store.put("trk_1/taken", bytes, 100),
    ]);
    expect(failures.map(({ status }) => status)).to.deep.equal(["rejected", "rejected", "rejected"]);
    expect(await readdir(join(root, ".incoming"))).to.deep.equal([]);
  });

  it("clears away old leftovers when it opens, and spares files that are being written", async () => {
    const incoming = join(root, ".incoming");
    await mkdir(incoming, { recursive: true });
    await writeFile(join(incoming, "old"), "left by a process that is gone");
    await writeFile(join(incoming, "new"), "another process writes this one");
    const yesterday = new Date(Date.now() - 86_400_000);
    await utimes(join(incoming, "old"), yesterday, yesterday);
    await LocalAudioStore.open(root);
    expect(await readdir(incoming)).to.deep.equal(["new"]);
  });

  it("spares files that are being written also where the process's clock is a day ahead", async () => {
    const incoming = join(root, ".incoming");
    await mkdir(incoming, { recursive: true });
    await writeFile(join(incoming, "new"), "another process writes this one");
    sinon.useFakeTimers({ now: Date.now() + 86_400_000, toFake: ["Date"] });
    await LocalAudioStore.open(root);
    expect(await readdir(incoming)).to.deep.equal(["new"]);
  });

  it("gives a reader the file it began with, when that is replaced or deleted on the way", async () => {
    const store = await LocalAudioStore.open(root);
    await store.put("trk_1/mix.mp3", Buffer.alloc(300_000, "a"), 1_000_000);
    const read: string[] = [];
    for await (const part of store.read("trk_1/mix.mp3")) {
      if (read.length === 0) {
        await store.put("trk_1/mix.mp3", Buffer.alloc(300_000, "b"), 1_000_000);
        await store.deleteAll("trk_1");
      }
      read.push(Buffer.from(part).toString());
    }
    expect(read.join("")).to.equal("a".repeat(300_000));
  });

  it("lists directories of more entries than it keeps at once, empty ones among them", async () => {
    const keys: string[] = [];
    for (let index = 0; index < 60; index++) {
      const name = `job_${String((index * 37) % 100).padStart(2, "0")}${index % 7 === 0 ? "-1" : ""}`;
      await mkdir(join(root, name), { recursive: true });
      for (const file of index % 3 === 0 ? [] : ["mix.mp3", "mix", "0/mix.mp3", "0-mix.mp3"]) {
        await mkdir(dirname(join(root, name, file)), { recursive: true });
        await writeFile(join(root, name, file), "x");
        keys.push(`${name}/${file}`);
      }
    }
    keys.sort();
    for (const namesMax of [1, 2, 7, 10_000]) {
      for (const behind of [0, 1, 50, keys.length]) {
        const listed: string[] = [];
        for await (const key of filesBehind(root, keys[behind - 1] ?? null, namesMax)) listed.push(key);
        expect(listed, `${namesMax} names, ${behind} behind`).to.deep.equal(keys.slice(behind));
      }
    }
  });

  it("lists nothing but files of keys: neither what is being written nor what others put there", async () => {
    const store = await LocalAudioStore.open(root);
    await store.put("trk_1/mix.mp3", bytes, 100);
    const others = [join(".incoming", "growing"), ".nfs0001", "Readme.TXT", join("trk_1", ".hidden")];
    for (const name of others) await writeFile(join(root, name), "x");
    expect((await store.list(null, 10)).map(({ key }) => key)).to.deep.equal(["trk_1/mix.mp3"]);
  });

  it("leaves no empty directory where it deleted the last file", async () => {
    const store = await LocalAudioStore.open(root);
    for (const key of ["job_1/1/mix.mp3", "job_1/2/mix.mp3"]) await store.put(key, bytes, 100);
    await store.delete("job_1/1/mix.mp3");
    expect(await readdir(join(root, "job_1"))).to.deep.equal(["2"]);
    await store.delete("job_1/2/mix.mp3");
    expect(await readdir(root)).to.deep.equal([".incoming"]);
  });

  it("opens no file before the first read", async () => {
    const store = await LocalAudioStore.open(root);
    store.read("trk_none/mix.mp3");
    store.read("../outside");
  });

  it("stores during a deletion of the same prefix", async () => {
    const store = await LocalAudioStore.open(root);
    for (let round = 0; round < 20; round++) {
      await store.put("trk_1/old.mp3", bytes, 100);
      const [, put] = await Promise.allSettled([store.deleteAll("trk_1"), store.put("trk_1/new.mp3", bytes, 100)]);
      // Whichever came first: the file is there whole, or the deletion took it.
      if (put.status === "rejected")
        expect(put.reason).to.have.property("message").that.includes("was deleted while it was stored");
    }
    expect(await readdir(join(root, ".incoming"))).to.deep.equal([]);
  });

  it("is fine while its directory can be written to, and else says which", async () => {
    const store = await LocalAudioStore.open(root);
    await store.check();
    expect(await readdir(join(root, ".incoming"))).to.deep.equal([]);
    await rm(root, { recursive: true });
    const error = await store.check().then(
      () => null,
      (refusal: Error) => refusal,
    );
    expect(error?.message).to.include(root);
  });
});
