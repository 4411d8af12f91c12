import { expect } from "chai";
import type { JobId } from "../../core/ids.js";
import type { JobNotification, JobQueue } from "../../core/ports/job-queue.js";
import { aNotification } from "../support/builders.js";

/** Collects notifications; `received` resolves when one has arrived, and mocha's time limit bounds the wait. */
function aListener(): {
  readonly notifications: JobNotification[];
  readonly listen: (notification: JobNotification) => void;
  received(notification: JobNotification): Promise<void>;
} {
  const notifications: JobNotification[] = [];
  const waiting: { readonly jobId: JobId; resolve(): void }[] = [];
  return {
    notifications,
    listen: (notification) => {
      notifications.push(notification);
      for (const wait of waiting) if (wait.jobId === notification.jobId) wait.resolve();
    },
    received: (notification) =>
      new Promise((resolve) => {
        if (notifications.some(({ jobId }) => jobId === notification.jobId)) resolve();
        else waiting.push({ jobId: notification.jobId, resolve });
      }),
  };
}

/**
 * The promises of every `JobQueue`.
 *
 * @param open opens a queue, for each test; the suite closes it
 */
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
      const notifications = [aNotification(), aNotification()] as const;
      queue.notify(notifications);
      await Promise.all(notifications.map((notification) => listener.received(notification)));
      expect(listener.notifications).to.have.deep.members([...notifications]);
    });

    it("passes on later notifications, too", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      for (const notification of [aNotification(), aNotification(), aNotification()]) {
        queue.notify([notification]);
        await listener.received(notification);
      }
    });

    it("does not pass on notifications of other providers", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      const ours = aNotification();
      queue.notify([aNotification("mureka"), ours]);
      await listener.received(ours);
      expect(listener.notifications.map(({ providerId }) => providerId)).to.deep.equal(["synth"]);
    });

    it("returns to the caller before a listener is called", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      const notification = aNotification();
      queue.notify([notification]);
      expect(listener.notifications).to.deep.equal([]);
      await listener.received(notification);
    });

    it("goes on after a listener threw", async () => {
      const listener = aListener();
      const first = aNotification();
      await queue.listen("synth", (notification) => {
        listener.listen(notification);
        if (notification.jobId === first.jobId) throw new Error("a listener's own error");
      });
      const second = aNotification();
      queue.notify([first, second]);
      await Promise.all([listener.received(first), listener.received(second)]);
    });

    it("goes on after a listener's promise was rejected", async () => {
      const listener = aListener();
      const first = aNotification();
      await queue.listen("synth", async (notification) => {
        listener.listen(notification);
        if (notification.jobId === first.jobId) throw new Error("a listener's own error");
      });
      const second = aNotification();
      queue.notify([first, second]);
      await Promise.all([listener.received(first), listener.received(second)]);
    });

    it("does not wait for a listener before it passes on the next notification", async () => {
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
      await Promise.all([listener.received(first), listener.received(second)]);
      finish();
    });

    it("passes a notification to every listener of its provider", async () => {
      const [one, other] = [aListener(), aListener()];
      await queue.listen("synth", one.listen);
      await queue.listen("synth", other.listen);
      const notification = aNotification();
      queue.notify([notification]);
      await Promise.all([one.received(notification), other.received(notification)]);
    });

    it("takes notifications without a listener, and an empty list", () => {
      queue.notify([aNotification("unheard")]);
      queue.notify([]);
    });

    it("passes its check after a notification of a prepared provider without a listener", async () => {
      await queue.prepare(["synth", "unheard"]);
      queue.notify([aNotification("unheard"), aNotification()]);
      await queue.check();
    });

    it("may be prepared for providers again, before and after a listener is added", async () => {
      const listener = aListener();
      await queue.prepare([]);
      await queue.prepare(["synth"]);
      await queue.listen("synth", listener.listen);
      await queue.prepare(["synth", "mureka"]);
      const notification = aNotification();
      queue.notify([notification]);
      await listener.received(notification);
      await queue.check();
    });

    it("passes its check until it is closed", async () => {
      await queue.check();
      await queue.close();
      const error = await queue.check().then(
        () => null,
        (refusal: unknown) => refusal,
      );
      expect(error).to.be.instanceOf(Error);
    });

    it("takes no listener once it is closed, and cannot be prepared any more", async () => {
      await queue.close();
      for (const refused of [queue.listen("synth", () => undefined), queue.prepare(["synth"])]) {
        const error = await refused.then(
          () => null,
          (refusal: unknown) => refusal,
        );
        expect(error).to.be.instanceOf(Error);
      }
    });

    it("never throws from notify, closed or not, and calls no listener once closed", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      await queue.close();
      queue.notify([aNotification()]);
      await queue.close();
      expect(listener.notifications).to.deep.equal([]);
    });
  });
}
