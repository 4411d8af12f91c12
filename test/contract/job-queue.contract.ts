import { expect } from "chai";
import type { JobId } from "../../core/ids.js";
import type { JobNotification, JobQueue } from "../../core/ports/job-queue.js";

let made = 0;

/** A bell that no other test rings. */
export function aBell(providerId = "synth"): JobNotification {
  made += 1;
  return { jobId: `job_${String(made).padStart(26, "0")}`, providerId };
}

/** Collects bells; `heard` resolves when a bell has arrived, and mocha's time limit bounds the wait. */
function aListener(): {
  readonly bells: JobNotification[];
  readonly listen: (bell: JobNotification) => void;
  heard(bell: JobNotification): Promise<void>;
} {
  const bells: JobNotification[] = [];
  const waiting: { readonly jobId: JobId; resolve(): void }[] = [];
  return {
    bells,
    listen: (bell) => {
      bells.push(bell);
      for (const wait of waiting) if (wait.jobId === bell.jobId) wait.resolve();
    },
    heard: (bell) =>
      new Promise((resolve) => {
        if (bells.some(({ jobId }) => jobId === bell.jobId)) resolve();
        else waiting.push({ jobId: bell.jobId, resolve });
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

    it("passes bells to who listens for their provider", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      const bells = [aBell(), aBell()] as const;
      queue.notify(bells);
      await Promise.all(bells.map((bell) => listener.heard(bell)));
      expect(listener.bells).to.have.deep.members([...bells]);
    });

    it("passes on what is rung later, too", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      for (const bell of [aBell(), aBell(), aBell()]) {
        queue.notify([bell]);
        await listener.heard(bell);
      }
    });

    it("keeps the bells of other providers away", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      const ours = aBell();
      queue.notify([aBell("mureka"), ours]);
      await listener.heard(ours);
      expect(listener.bells.map(({ providerId }) => providerId)).to.deep.equal(["synth"]);
    });

    it("returns to who rings before anybody hears it", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      const bell = aBell();
      queue.notify([bell]);
      expect(listener.bells).to.deep.equal([]);
      await listener.heard(bell);
    });

    it("goes on after a listener threw", async () => {
      const listener = aListener();
      const first = aBell();
      await queue.listen("synth", (bell) => {
        listener.listen(bell);
        if (bell.jobId === first.jobId) throw new Error("a listener's own mistake");
      });
      const second = aBell();
      queue.notify([first, second]);
      await Promise.all([listener.heard(first), listener.heard(second)]);
    });

    it("goes on after a listener's promise was rejected", async () => {
      const listener = aListener();
      const first = aBell();
      await queue.listen("synth", async (bell) => {
        listener.listen(bell);
        if (bell.jobId === first.jobId) throw new Error("a listener's own mistake");
      });
      const second = aBell();
      queue.notify([first, second]);
      await Promise.all([listener.heard(first), listener.heard(second)]);
    });

    it("does not wait for one bell's listener before the next bell", async () => {
      const listener = aListener();
      const first = aBell();
      let finish = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        finish = resolve;
      });
      await queue.listen("synth", async (bell) => {
        listener.listen(bell);
        if (bell.jobId === first.jobId) await held;
      });
      const second = aBell();
      queue.notify([first]);
      queue.notify([second]);
      await Promise.all([listener.heard(first), listener.heard(second)]);
      finish();
    });

    it("passes a bell to every listener of its provider", async () => {
      const [one, other] = [aListener(), aListener()];
      await queue.listen("synth", one.listen);
      await queue.listen("synth", other.listen);
      const bell = aBell();
      queue.notify([bell]);
      await Promise.all([one.heard(bell), other.heard(bell)]);
    });

    it("takes bells that nobody listens for, and none at all", () => {
      queue.notify([aBell("nobody")]);
      queue.notify([]);
    });

    it("is fine after the first bell of a provider that it was prepared for and nobody listens for", async () => {
      await queue.prepare(["synth", "nobody"]);
      queue.notify([aBell("nobody"), aBell()]);
      await queue.check();
    });

    it("may be prepared for providers again, before and after somebody listens", async () => {
      const listener = aListener();
      await queue.prepare([]);
      await queue.prepare(["synth"]);
      await queue.listen("synth", listener.listen);
      await queue.prepare(["synth", "mureka"]);
      const bell = aBell();
      queue.notify([bell]);
      await listener.heard(bell);
      await queue.check();
    });

    it("is fine until it is closed", async () => {
      await queue.check();
      await queue.close();
      const error = await queue.check().then(
        () => null,
        (refusal: unknown) => refusal,
      );
      expect(error).to.be.instanceOf(Error);
    });

    it("takes no listener once it is closed, and is not prepared any more", async () => {
      await queue.close();
      for (const refused of [queue.listen("synth", () => undefined), queue.prepare(["synth"])]) {
        const error = await refused.then(
          () => null,
          (refusal: unknown) => refusal,
        );
        expect(error).to.be.instanceOf(Error);
      }
    });

    it("never throws at who rings, closed or not, and is silent once closed", async () => {
      const listener = aListener();
      await queue.listen("synth", listener.listen);
      await queue.close();
      queue.notify([aBell()]);
      await queue.close();
      expect(listener.bells).to.deep.equal([]);
    });
  });
}
