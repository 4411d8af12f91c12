import { expect } from "chai";
import { ProviderFailure, streamedForm, type StreamedForm } from "../../../../plugins/sdk/index.js";
import { aSource } from "../../../support/provider-kit/index.js";

describe("streamedForm", () => {
  const read = async ({ body }: StreamedForm): Promise<Uint8Array> =>
    new Uint8Array(await new Response(body).arrayBuffer());

  it("is a form of the texts and the file, as long as it says", async () => {
    const content = new Uint8Array(3_000).fill(13);
    const source = aSource({ contentType: "audio/flac", sizeBytes: 3_000 }, content);
    const prompt = 'Two\r\nlines, "quotes"; --fermata- and Ümläute';
    const form = streamedForm(source, { name: "track", field: "audio", fields: { prompt, steps: 8, seed: undefined } });
    const bytes = await read(form);
    expect(form.headers["content-length"]).to.equal(String(bytes.length));
    const parsed = await new Response(bytes.slice(), { headers: { ...form.headers } }).formData();
    expect([...parsed.keys()]).to.deep.equal(["prompt", "steps", "audio"]);
    expect([parsed.get("prompt"), parsed.get("steps")]).to.deep.equal([prompt, "8"]);
    const file = parsed.get("audio") as File;
    expect([file.name, file.type]).to.deep.equal(["track.flac", "audio/flac"]);
    expect(Buffer.from(content).equals(new Uint8Array(await file.arrayBuffer()))).to.equal(true);
  });

  it("has a boundary of its own, which a caller's text cannot hold", () => {
    const types = [1, 2].map(() => streamedForm(aSource(), { name: "track" }).headers["content-type"]);
    expect(types[0]).to.match(/^multipart\/form-data; boundary=fermata-[0-9a-f-]{36}$/);
    expect(types[0]).to.not.equal(types[1]);
  });

  it("reads the file as it is sent, a chunk at a time", async () => {
    let count = 0;
    const chunk = new Uint8Array(1_000);
    const open = async function* (): AsyncGenerator<Uint8Array> {
      for (; count < 1_000; count += 1) yield await Promise.resolve(chunk);
    };
    const { body } = streamedForm(aSource({ sizeBytes: 1_000_000, open }), { name: "track" });
    const reader = body.getReader();
    for (let reads = 0; reads < 5; reads += 1) await reader.read();
    expect(count).to.be.at.most(10);
    await reader.cancel();
  });

  it("fails as unavailable where the file cannot be read", async () => {
    const open = (): AsyncIterable<Uint8Array> => {
      throw new Error("the disk is gone");
    };
    const sent = read(streamedForm(aSource({ open }), { name: "track" }));
    const failure: unknown = await sent.catch((error: unknown) => error);
    expect(ProviderFailure.is(failure) && [failure.kind, failure.billable]).to.deep.equal(["unavailable", "no"]);
  });
});
