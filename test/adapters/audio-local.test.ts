import { mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { LocalAudioStore } from "../../adapters/audio/local/audio-store.js";
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

  it("lists directories of many entries, empty ones among them, in pages that follow each other", async () => {
    const store = await LocalAudioStore.open(root);
    const name = (index: number): string => `job_${String((index * 7_919) % 10_000).padStart(5, "0")}`;
    const keys: string[] = [];
    for (let index = 0; index < 4_300; index++) {
      await mkdir(join(root, name(index)));
      if (index % 5 !== 0) continue;
      await writeFile(join(root, name(index), "mix.mp3"), "x");
      keys.push(`${name(index)}/mix.mp3`);
    }
    for (let index = 0; index < 1_050; index++) {
      await writeFile(join(root, name(0), `${index}.mp3`), "x");
      keys.push(`${name(0)}/${index}.mp3`);
    }
    keys.sort();
    const listed: string[] = [];
    for (let page = await store.list(null, 700); ; page = await store.list(listed.at(-1) ?? null, 700)) {
      listed.push(...page.map(({ key }) => key));
      if (page.length < 700) break;
    }
    expect(listed).to.deep.equal(keys);
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

  it("opens no file for a read that nobody begins", async () => {
    const store = await LocalAudioStore.open(root);
    store.read("trk_none/mix.mp3");
    store.read("../outside");
  });

  it("stores beside a deletion of the same prefix", async () => {
    const store = await LocalAudioStore.open(root);
    for (let round = 0; round < 20; round++) {
      await store.put("trk_1/old.mp3", bytes, 100);
      const [, put] = await Promise.allSettled([store.deleteAll("trk_1"), store.put("trk_1/new.mp3", bytes, 100)]);
      // Whichever came first: the file is there whole, or the deletion took it.
      if (put.status === "rejected") expect(put.reason).to.have.property("message").that.includes("was deleted while it was stored");
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
