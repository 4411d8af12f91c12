import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { ExportedRecord } from "../../../core/accounts/export-account.js";
import { UnknownObjectError } from "../../../core/errors.js";
import { aLoggedRequest, aMovement, anId, aTrack } from "../../support/builders.js";
import { fillAccount } from "../../support/filled-account.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";
import { repositoryPath } from "../../support/repository.js";

describe("The export of an account", () => {
  let memory: MemoryCore;
  beforeEach(async () => {
    memory = await memoryCore();
  });

  async function exported(id: string): Promise<ExportedRecord[]> {
    const records: ExportedRecord[] = [];
    for await (const page of await memory.core.exports.open(id)) {
      expect(page.length).to.be.at.most(400);
      records.push(...page);
    }
    return records;
  }
  const count = (records: readonly ExportedRecord[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { type } of records) counts[type] = (counts[type] ?? 0) + 1;
    return counts;
  };

  it("has everything that is kept of it, and nothing of others", async () => {
    const { id, jobs, uploaded } = await fillAccount(memory.storage, memory.audio, "zanzibar");
    await fillAccount(memory.storage, memory.audio, "quokka");
    const records = await exported(id);
    expect(JSON.stringify(records)).not.to.include("quokka");
    expect(records[0]).to.deep.equal({ type: "export", version: 1, accountId: id, at: memory.clock.now() });
    expect(records[1]).to.deep.include({
      type: "account",
      account: await memory.core.accounts.get(id),
      balance: await memory.storage.balanceOf(id),
    });
    expect(records.at(-1)).to.deep.equal({ type: "end", records: records.length });
    expect(count(records)).to.deep.include({
      key: 1,
      webhook_endpoint: 1,
      job: jobs.length,
      track: 5,
      playlist: 2,
      webhook_event: 4,
      request: 60,
      request_count: 1,
      audit_record: 1,
      ledger_entry: 12,
    });
    const split = records.find((one) => one.type === "job" && one.outputs.length > 0);
    expect(split).to.have.nested.property("outputs[0].label", "zanzibar");
    expect(records.some((one) => one.type === "track" && one.track.id === uploaded)).to.equal(true);
    const key = records.find((one) => one.type === "key");
    expect(key).not.to.have.nested.property("key.tokenHash");
    const job = records.find((one) => one.type === "job");
    expect(job).not.to.have.nested.property("job.fence");
    const endpoint = records.find((one) => one.type === "webhook_endpoint");
    expect(endpoint).not.to.have.nested.property("endpoint.sealedSecret");
  });

  it("has lines of the types that config/README.md lists, in that order", async () => {
    const { id } = await fillAccount(memory.storage, memory.audio, "zanzibar");
    const [, section = ""] = readFileSync(repositoryPath("config/README.md"), "utf8").split(
      "\n## What is kept of a person",
    );
    const listed = [...(section.split("\n## ")[0] ?? "").matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, type]) => type);
    expect([...new Set((await exported(id)).map(({ type }) => type))]).to.deep.equal(
      // The first row is the head of the table.
      listed.slice(1),
    );
  });

  it("is recorded, and is of no account that is not there", async () => {
    const { id } = await memory.storage.addAccount();
    await exported(id);
    expect((await memory.storage.auditLog.list({ limit: 1 }))[0]).to.deep.include({
      action: "accounts.export",
      accountId: id,
      targets: [id],
    });
    for (const unknown of [anId("acct"), "nonsense"]) {
      const refused = await memory.core.exports.open(unknown).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(UnknownObjectError);
      expect(String(refused)).to.include(`There is no account ${unknown}.`);
    }
  });

  it("goes through pages: of the ledger, of tracks, and of requests of one moment", async () => {
    const { storage, clock } = memory;
    const { id } = await storage.addAccount();
    for (let grants = 0; grants < 200; grants++)
      await storage.apply(aMovement(await storage.balanceOf(id), { pack: 1 }));
    const tracks = Array.from({ length: 401 }, () => aTrack({ accountId: id }));
    const requests = Array.from({ length: 450 }, (_, index) =>
      aLoggedRequest({ accountId: id, createdAt: clock.now() - (index < 230 ? 5 : index) }),
    );
    await storage.inTransaction(async (tx) => {
      await storage.library.insertTracks(tx, tracks);
      await storage.requestLog.insert(tx, requests);
    });
    const records = await exported(id);
    expect(count(records)).to.include({ ledger_entry: 201, track: 401, request: 450 });
    const ids = records.flatMap((one) => (one.type === "request" ? [one.request.id] : []));
    expect(new Set(ids).size).to.equal(450);
  });

  it("names files that are stored, and reads them", async () => {
    await memory.audio.put("trk_1/mix.mp3", new Uint8Array([1, 2]), 10);
    const { exports } = memory.core;
    expect(await exports.hasFile("trk_1/mix.mp3")).to.equal(true);
    expect(await exports.hasFile("trk_2/mix.mp3")).to.equal(false);
    const bytes: Uint8Array[] = [];
    for await (const chunk of exports.readFile("trk_1/mix.mp3")) bytes.push(chunk);
    expect([...Buffer.concat(bytes)]).to.deep.equal([1, 2]);
  });
});
