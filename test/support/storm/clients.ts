import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { type Answer, ApiClient, dataOf } from "../api-client.js";
import type { Dice } from "./dice.js";

/** An account whose key the clients use. */
export interface Caller {
  readonly accountId: string;
  readonly key: string;
}

/** The body of a request. */
export interface Order {
  readonly model_id: string;
  readonly prompt: string;
  readonly duration?: number;
}

/** What one client wants made, under one idempotency key, whatever happens to its requests. */
export interface Wish {
  readonly number: number;
  readonly caller: Caller;
  readonly idempotencyKey: string;
  /** Its prompt begins with the number. */
  readonly order: Order;
  /** The bytes of the first answer that came back; every other must be the same. */
  answer: string | null;
  jobId: string | null;
  /** True while a request waits for the end: by contract a repetition then gets another answer than the one that will be kept. */
  isWaited: boolean;
  /** How the job was seen to have ended; it must stay so. */
  end: JobEnd | null;
}

export interface JobEnd {
  readonly status: string;
  readonly credits_charged: number;
  readonly completed_at: string;
}

export interface ClientsDeps {
  readonly dice: Dice;
  readonly callers: readonly Caller[];
  /** Where a server may answer right now. Who gets no answer at one goes on to the next. */
  urls(): readonly string[];
  /** What to ask for. */
  order(): Order;
  /** A replayed 502 does not name its job: its id, as the storage has it. */
  findJobId(wish: Wish): Promise<string>;
}

/** What `fetch` says when there is no connection, or no longer one. */
const CONNECTION_LOST = ["fetch failed", "terminated"];

/** Clients that never give up: each wish is asked for under one key until it is answered, and once more later. */
export class Clients {
  readonly wishes: Wish[] = [];
  /** Requests that brought no answer, and those that were put off with a 503. */
  readonly counts = { lost: 0, putOff: 0 };
  private allowance = 0;

  constructor(private readonly deps: ClientsDeps) {}

  /** Lets the clients wish for this many pieces more. */
  allow(wishes: number): void {
    this.allowance += wishes;
  }

  /** So many clients at once wish, repeat themselves, hang up and look, until `signal` aborts. */
  async speak(clients: number, signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: clients }, () => this.speakAsOne(signal)));
  }

  /** Asks for every wish again. */
  async askAll(): Promise<void> {
    for (const wish of this.wishes) await this.ask(wish);
  }

  /** Looks at every job again. */
  async lookAtAll(): Promise<void> {
    for (const wish of this.wishes) await this.look(wish);
  }

  /** Whether every job has been seen to have ended. */
  async allEnded(): Promise<boolean> {
    for (const wish of this.wishes) if (wish.end === null) await this.look(wish);
    return this.wishes.every(({ end }) => end !== null);
  }

  private async speakAsOne(signal: AbortSignal): Promise<void> {
    const { dice } = this.deps;
    while (!signal.aborted) {
      const chance = dice.fraction();
      const known = this.wishes.filter(({ isWaited }) => !isWaited);
      const open = known.filter(({ answer }) => answer === null);
      const wish = dice.pick(known);
      if (chance < 0.4 && this.allowance > 0) await this.ask(this.newWish(), dice.fraction() < 0.2 ? 1 : null);
      else if (chance < 0.5 && this.allowance > 0) await this.askAndHangUp(this.newWish());
      else if (chance < 0.7 && open.length > 0) await this.ask(dice.pick(open) as Wish);
      else if (chance < 0.85 && wish !== undefined) await this.ask(wish);
      else if (wish !== undefined) await this.look(wish);
      await sleep(Math.ceil(dice.between(0, 30)));
    }
  }

  private newWish(): Wish {
    const { dice, callers, order } = this.deps;
    const number = this.wishes.length;
    const { prompt, ...rest } = order();
    const wish: Wish = {
      number,
      caller: dice.pick(callers) as Caller,
      idempotencyKey: `wish ${number}`,
      order: { ...rest, prompt: `${number} ${prompt}` },
      answer: null,
      jobId: null,
      isWaited: false,
      end: null,
    };
    this.wishes.push(wish);
    this.allowance -= 1;
    return wish;
  }

  /** Sends a wish, for the first time or again; a lost answer leaves it open. */
  private async ask(wish: Wish, waitSeconds: number | null = null): Promise<void> {
    const isRepeated = wish.answer !== null;
    const headers = {
      "Idempotency-Key": wish.idempotencyKey,
      ...(waitSeconds === null ? {} : { Prefer: `wait=${waitSeconds}` }),
    };
    wish.isWaited = waitSeconds !== null;
    const answer = await this.anyAnswer((url) =>
      new ApiClient(url, wish.caller.key).generate(wish.order, headers),
    ).finally(() => (wish.isWaited = false));
    if (answer === null) return;
    const isProviderDown =
      answer.status === 502 && (isRepeated || waitSeconds !== null || answer.headers.has("Idempotent-Replayed"));
    if (!isProviderDown) expect(answer.status, `${wish.idempotencyKey}: ${answer.text}`).to.equal(202);
    if (isRepeated) expect(answer.headers.get("Idempotent-Replayed"), wish.idempotencyKey).to.equal("true");
    expect(answer.text, `a replay of ${wish.idempotencyKey}`).to.equal(wish.answer ?? answer.text);
    wish.answer = answer.text;
    wish.jobId ??= answer.status === 202 ? dataOf<{ id: string }>(answer).id : await this.deps.findJobId(wish);
  }

  /** Sends a wish and is gone before the answer comes. */
  private askAndHangUp(wish: Wish): Promise<void> {
    const { dice, urls } = this.deps;
    const url = dice.pick(urls());
    if (url === undefined) return Promise.resolve();
    const patienceMs = Math.floor(dice.between(0, 20));
    return new Promise((resolve) => {
      const sent = request(`${url}/api/v1/generations`, {
        method: "POST",
        agent: false,
        headers: {
          Authorization: `Bearer ${wish.caller.key}`,
          "Content-Type": "application/json",
          "Idempotency-Key": wish.idempotencyKey,
        },
      });
      sent.on("error", () => undefined).on("close", resolve);
      sent.end(JSON.stringify(wish.order), () => setTimeout(() => sent.destroy(), patienceMs));
    });
  }

  /** Notes how a job ended; an end that was seen before must not have changed. */
  private async look(wish: Wish): Promise<void> {
    // What another look learns meanwhile may be newer than what this one is answered.
    const { jobId, end: endBefore } = wish;
    if (jobId === null) return;
    const answer = await this.anyAnswer((url) =>
      new ApiClient(url, wish.caller.key).get(`/api/v1/generations/${jobId}`),
    );
    if (answer === null) return;
    const { status, credits_charged, completed_at } = dataOf<JobEnd>(answer);
    const isOver = status === "completed" || status === "failed";
    if (isOver || endBefore !== null) {
      const seen = { status, credits_charged, completed_at };
      expect(seen, `the end of ${jobId}`).to.deep.equal(wish.end ?? seen);
      wish.end = seen;
    }
  }

  /** Asks one server after the other, in any order. null when none has answered, which says nothing about what they did. */
  private async anyAnswer(ask: (url: string) => Promise<Answer>): Promise<Answer | null> {
    const { dice, urls } = this.deps;
    for (const url of dice.shuffled(urls())) {
      const answer = await orLost(ask(url));
      if (answer !== null && answer.status !== 503) return answer;
      if (answer === null) this.counts.lost += 1;
      else this.counts.putOff += 1;
      if (answer !== null) expect(answer.headers.get("Retry-After"), answer.text).to.match(/^[1-9]\d*$/);
      // The storage may still be about to write the answer of a server that is gone.
      await sleep(Math.ceil(dice.between(20, 60)));
    }
    return null;
  }
}

async function orLost(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TypeError && CONNECTION_LOST.includes(error.message)) return null;
    throw error;
  }
}
