import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { MemoryJobQueue } from "../../adapters/queue/memory/job-queue.js";
import { jobQueueContract } from "../contract/job-queue.contract.js";
import { aNotification } from "../support/builders.js";
import { RecordingLogger } from "../support/doubles/recording-logger.js";

jobQueueContract("MemoryJobQueue", async () => new MemoryJobQueue(new RecordingLogger()));

describe("MemoryJobQueue", () => {
  it("logs the error of a listener, with the notification", async () => {
    const logger = new RecordingLogger();
    const queue = new MemoryJobQueue(logger);
    await queue.listen("synth", () => {
      throw new Error("an error of the listener");
    });
    const notification = aNotification();
    queue.notify([notification]);
    await nextTurn();
    expect(logger.lines).to.have.length(1);
    expect(logger.lines[0]?.fields)
      .to.include(notification)
      .and.have.nested.property("error.message", "an error of the listener");
    await queue.close();
  });

  it("logs the rejection of a listener's promise", async () => {
    const logger = new RecordingLogger();
    const queue = new MemoryJobQueue(logger);
    await queue.listen("synth", () => Promise.reject(new Error("an error of the listener")));
    queue.notify([aNotification()]);
    await nextTurn();
    expect(logger.lines.map(({ message }) => message)).to.deep.equal(["A listener of the job queue failed"]);
    await queue.close();
  });

  it("calls every listener of a provider, in the order of the notifications", async () => {
    const queue = new MemoryJobQueue(new RecordingLogger());
    const heard: string[] = [];
    await queue.listen("synth", (notification) => heard.push(`first ${notification.jobId}`));
    await queue.listen("synth", (notification) => heard.push(`second ${notification.jobId}`));
    const [one, two] = [aNotification(), aNotification()];
    queue.notify([one]);
    await nextTurn();
    queue.notify([two]);
    await nextTurn();
    await nextTurn();
    expect(heard).to.deep.equal(
      [one, one, two, two].map(
        (notification, index) => `${index % 2 === 0 ? "first" : "second"} ${notification.jobId}`,
      ),
    );
    await queue.close();
  });

  it("drops pending notifications when it is closed", async () => {
    const queue = new MemoryJobQueue(new RecordingLogger());
    const heard: unknown[] = [];
    await queue.listen("synth", (notification) => heard.push(notification));
    queue.notify([aNotification()]);
    await queue.close();
    await nextTurn();
    expect(heard).to.deep.equal([]);
  });

  it("refuses listeners after it is closed", async () => {
    const queue = new MemoryJobQueue(new RecordingLogger());
    await queue.close();
    const error = await queue
      .listen("synth", () => undefined)
      .then(
        () => null,
        (refusal: Error) => refusal,
      );
    expect(error?.message).to.equal("The job queue is closed.");
  });
});
