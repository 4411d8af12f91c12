import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { LoggedRequest } from "../../../core/ports/request-log.js";
import { BATCH_MAX, FLUSH_MS, RecordRequests, WAITING_MAX } from "../../../core/usage/record-requests.js";
import { aLoggedRequest, anId } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

describe("Rows of the request log", () => {
  let memory: MemoryCore;
  let isAway: boolean;
  beforeEach(async () => {
    memory = await memoryCore();
    isAway = false;
  });
  /** Records on the store in memory, which takes nothing while it is away. */
  function recording(given: Partial<ConstructorParameters<typeof RecordRequests>[0]> = {}): RecordRequests {
    const { ports, storage } = memory;
    const log = new FaultyPort(storage.requestLog).failOn(
      "insert",
      () => new ServiceUnavailableError(),
      () => isAway,
    );
    return new RecordRequests({ ...ports, log, redact: (text) => text.replaceAll("secret", "*"), ...given });
  }
  const accountId = anId("acct");
  const stored = (): Promise<LoggedRequest[]> =>
    memory.storage.requestLog.list({ accountId, from: 0, to: Number.MAX_SAFE_INTEGER }, 20_000);
  const add = (recorder: RecordRequests, count: number, given: Partial<LoggedRequest> = {}): void => {
    for (let added = 0; added < count; added++) recorder.add(aLoggedRequest({ accountId, ...given }));
  };

  it("have paths of 255 characters at most, also where a route is as long, and no secret", async () => {
    const recorder = recording();
    const paths = ["x".repeat(255), "x".repeat(256), `/secret/${"x".repeat(300)}`];
    for (const path of paths) add(recorder, 1, { path, route: path });
    add(recorder, 1, { path: "/tracks/secret", route: "/tracks/{id}" });
    add(recorder, 1, { path: "/tracks/secret", route: "/tracks/secret" });
    await recorder.flush();
    expect((await stored()).map(({ path }) => path).sort()).to.deep.equal(
      [
        "x".repeat(255),
        `${"x".repeat(254)}…`,
        `/*/${"x".repeat(251)}…`,
        "/tracks/*",
        // Its own template: no caller chose it.
        "/tracks/secret",
      ].sort(),
    );
  });

  it("that were merged are written within a second, whether others wait or not", async () => {
    const recorder = recording();
    add(recorder, 25, { status: 429, errorCode: "rate_limited" });
    await recorder.flush();
    const counted = async (): Promise<number> => (await stored()).reduce((sum, { count }) => sum + count, 0);
    expect(await counted()).to.equal(25);
    add(recorder, 5, { status: 429, errorCode: "rate_limited" });
    await memory.clock.advance(FLUSH_MS);
    expect(await counted()).to.equal(30);
    add(recorder, 5, { status: 429, errorCode: "rate_limited" });
    await recorder.flush();
    expect(await counted()).to.equal(35);
  });

  it("beyond what may wait are dropped: counted, and logged once until some are written again", async () => {
    const recorder = recording();
    isAway = true;
    add(recorder, WAITING_MAX + 3);
    await memory.clock.advance(FLUSH_MS);
    add(recorder, 2);
    const lines = (): string[] => memory.logger.lines.map(({ message }) => message);
    expect(lines().sort()).to.deep.equal([
      "Request log rows are dropped",
      "The storage takes no request log rows; they wait",
    ]);
    const [waits] = memory.logger.lines.filter(({ message }) => message.startsWith("The storage"));
    expect(waits?.fields).to.have.property("error");
    const [drops] = memory.logger.lines.filter(({ message }) => message.endsWith("dropped"));
    expect(drops?.fields).to.deep.equal({ waiting: WAITING_MAX });
    const dropped = memory.metrics.counted.filter(([what]) => what === "dropped log rows");
    expect(dropped).to.have.length(5);
    isAway = false;
    await memory.clock.advance(60_000);
    // Written in chunks, between which others have their turn.
    while ((await stored()).length < WAITING_MAX) await nextTurn();
    isAway = true;
    add(recorder, WAITING_MAX + 1);
    expect(lines().filter((line) => line === "Request log rows are dropped")).to.have.length(2);
  });

  it("are written in batches, in which merged ones have their place", async () => {
    const sizes: number[] = [];
    const log = new FaultyPort(memory.storage.requestLog).on("insert", (insert, tx, rows, options) => {
      sizes.push(rows.length);
      return insert(tx, rows, options);
    });
    const recorder = recording({ log });
    add(recorder, 21, { status: 429, errorCode: "rate_limited" });
    add(recorder, BATCH_MAX);
    await recorder.flush();
    expect(Math.max(...sizes)).to.equal(BATCH_MAX);
    expect(sizes.every((size) => size > 0)).to.equal(true);
    expect((await stored()).length).to.equal(BATCH_MAX + 21);
  });

  it("that are refused alone are named, and counted where figures are", async () => {
    const log = new FaultyPort(memory.storage.requestLog).failOn("insert", () => new Error("It breaks a rule."));
    const recorder = recording({ log, metrics: null });
    const request = aLoggedRequest({ accountId });
    recorder.add(request);
    await recorder.flush();
    expect(memory.logger.lines[0]).to.include({ level: "error", message: "A request log row was refused" });
    expect(memory.logger.lines[0]?.fields).to.include({ request_id: request.id });
  });
});
