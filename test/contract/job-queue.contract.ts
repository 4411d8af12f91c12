import { expect } from "chai";
import type { JobId } from "../../core/ids.js";
import type { JobNotification, JobQueue } from "../../core/ports/job-queue.js";

let created = 0;

/** A notification that no other test publishes. */
export function aNotification(providerId = "synth"): JobNotification {
  created += 1;
  return { jobId: `job_${String(created).padStart(26, "0")}`, providerId };
}

/** Collects notifications; `heard` resolves when one has arrived, and mocha's time limit bounds the wait. */
function aListener(): {
  readonly notifications: JobNotification[];
  readonly listen: (notification: JobNotification) => void;
  heard(notification: JobNotification): Promise<void>;
} {
  const received: JobNotification[] = [];
  const waiting: { readonly jobId: JobId; resolve(): void }[] = [];
  return {
    notifications: received,
    listen: (notification) => {
      received.push(notification);
      for (const wait of waiting) if (wait.jobId === notification.jobId) wait.resolve();
    },
    heard: (notification) =>
      new Promise((resolve) => {
        if (received.some(({ jobId }) => jobId === notification.jobId)) resolve();
        else waiting.push({ jobId: notification.jobId, resolve });
      }),
  };
}

export function jobQueueContract(name: string, open: () => Promise<JobQueue>): void {
  describe(`JobQueue contract: ${name}`, () => {
    let queue: JobQueue;

    beforeEach(async () => {
      queue = await open();
    });

    afterEach(() => queue.close());

    it("passes notifications to the listener of their provider", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      const sent = [aNotification(), aNotification()] as const;
      queue.notify(sent);
      await Promise.all(sent.map((notification) => listener.heard(notification)));
      expect(listener.notifications).to.have.deep.members([...sent]);
    });

    it("passes later notifications on, too", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      for (const notification of [aNotification(), aNotification(), aNotification()]) {
        queue.notify([notification]);
        await listener.heard(notification);
      }
    });

    it("does not pass on notifications of other providers", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      const ours = aNotification();
      queue.notify([aNotification("mureka"), ours]);
      await listener.heard(ours);
      expect(listener.notifications.map(({ providerId }) => providerId)).to.deep.equal(["synth"]);
    });

    it("returns to the publisher before a listener runs", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      const notification = aNotification();
      queue.notify([notification]);
      expect(listener.notifications).to.deep.equal([]);
      await listener.heard(notification);
    });

    it("continues after a listener threw", async () => {
      const listener = aListener();
      const first = aNotification();
      await queue.listen("synth", (notification) => {
        listener.listen(notification);
        if (notification.jobId === first.jobId) throw new Error("an error of the listener");
      });
      const second = aNotification();
      queue.notify([first, second]);
      await Promise.all([listener.heard(first), listener.heard(second)]);
    });

    it("continues after a listener's promise was rejected", async () => {
      const listener = aListener();
      const first = aNotification();
      await queue.listen("synth", async (notification) => {
        listener.listen(notification);
        if (notification.jobId === first.jobId) throw new Error("an error of the listener");
      });
      const second = aNotification();
      queue.notify([first, second]);
      await Promise.all([listener.heard(first), listener.heard(second)]);
    });

    it("passes on a notification without waiting for the listener of the one before", async () => {
      const listener = aListener();
      const first = aNotification();
      let finish = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        finish = resolve;
      });
      await queue.listen("synth", async (notification) => {
        listener.listen(notification);
        if (notification.jobId === first.jobId) await held;
      });
      const second = aNotification();
      queue.notify([first]);
      queue.notify([second]);
      await Promise.all([listener.heard(first), listener.heard(second)]);
      finish();
    });

    it("passes a notification to every listener of its provider", async () => {
      const [one, other] = [aListener(), aListener()];
      await queue.listen("synth", one.listen);
      await queue.listen("synth", other.listen);
      const notification = aNotification();
      queue.notify([notification]);
      await Promise.all([one.heard(notification), other.heard(notification)]);
    });

    it("accepts notifications without a listener, and an empty list", () => {
      queue.notify([aNotification("unheard")]);
      queue.notify([]);
    });

    it("is healthy after the first notification of a prepared provider without a listener", async () => {
      await queue.prepare(["synth", "unheard"]);
      queue.notify([aNotification("unheard"), aNotification()]);
      await queue.check();
    });

    it("can be prepared for providers again, before and after a listener is added", async () => {
      const listener = aListener();
      await queue.prepare([]);
      await queue.prepare(["synth"]);
      await queue.listen("synth", listener.listen);
      await queue.prepare(["synth", "mureka"]);
      const notification = aNotification();
      queue.notify([notification]);
      await listener.heard(notification);
      await queue.check();
    });

    it("is healthy until it is closed", async () => {
      await queue.check();
      await queue.close();
      const error = await queue.check().then(
        () => null,
        (refusal: unknown) => refusal,
      );
      expect(error).to.be.instanceOf(Error);
    });

    it("accepts no listener and no preparation after it is closed", async () => {
      await queue.close();
      for (const refused of [queue.listen("synth", () => undefined), queue.prepare(["synth"])]) {
        const error = await refused.then(
          () => null,
          (refusal: unknown) => refusal,
        );
        expect(error).to.be.instanceOf(Error);
      }
    });

    it("never throws at the publisher, closed or not, and passes nothing on after it is closed", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      await queue.close();
      queue.notify([aNotification()]);
      await queue.close();
      expect(listener.notifications).to.deep.equal([]);
    });
  });
}
