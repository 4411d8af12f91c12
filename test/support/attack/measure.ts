import { EventEmitter, once } from "node:events";
import { request } from "node:http";
import { IS_LONG, sized } from "./size.js";
import type { AttackTarget } from "./target.js";

/** Ordinary requests come from this address, which no attack uses, each on its own connection. */
const ORDINARY_ADDRESS = "127.0.0.2";
const EVERY_MS = 50;
const IN_TIME_MS = 1_000;
/** A shorter attack is measured for this long. */
const ASKED_MIN = sized(20, 100);
const MIB = 1024 * 1024;

/** The required share of ordinary requests in the long form; the short form runs alongside other tests. */
const SERVED_MIN = 0.95;

/** The effect of an attack on others, and on the process. */
export interface AttackFigures {
  /** Ordinary requests during the attack. */
  readonly sent: number;
  /** Those with a 200 within a second. */
  readonly served: number;
  readonly rssBeforeBytes: number;
  readonly rssPeakBytes: number;
  readonly descriptorsPeak: number;
}

/**
 * Runs an attack while an ordinary client requests `path` every 50 ms, and prints a line of figures.
 *
 * @throws {Error} in the long form: fewer than 95 % of the ordinary requests were served within a second
 */
export async function measured<T>(
  name: string,
  target: AttackTarget,
  attack: () => Promise<T>,
  path = "/healthz",
): Promise<{ readonly result: T; readonly figures: AttackFigures }> {
  const client = new OrdinaryClient(target, path);
  await client.begin();
  let result: T;
  try {
    result = await attack();
    await client.asked();
  } finally {
    await client.end();
  }
  const line = attackLine(name, client.figures);
  process.stdout.write(`${line}\n`);
  const { sent, served } = client.figures;
  if (IS_LONG && served < SERVED_MIN * sent) throw new Error(`Others had to wait: ${line}`);
  return { result, figures: client.figures };
}

function attackLine(name: string, figures: AttackFigures): string {
  const { sent, served, rssBeforeBytes, rssPeakBytes, descriptorsPeak } = figures;
  const share = `${((100 * served) / sent).toFixed(1)} % of ${sent} requests served within 1 s`;
  const [before, peak] = [rssBeforeBytes, rssPeakBytes].map((bytes) => Math.round(bytes / MIB));
  const memory = `RSS ${before} to at most ${peak} MiB`;
  return `attack ${name}: ${share}; ${memory}; at most ${descriptorsPeak} descriptors`;
}

class OrdinaryClient {
  private readonly steps = new EventEmitter();
  private readonly under = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | null = null;
  private counted: AttackFigures = { sent: 0, served: 0, rssBeforeBytes: 0, rssPeakBytes: 0, descriptorsPeak: 0 };

  constructor(
    private readonly target: AttackTarget,
    private readonly path: string,
  ) {}

  get figures(): AttackFigures {
    return this.counted;
  }

  async begin(): Promise<void> {
    const rss = await this.target.residentBytes();
    this.counted = { ...this.counted, rssBeforeBytes: rss, rssPeakBytes: rss };
    this.timer = setInterval(() => this.step(), EVERY_MS);
    this.step();
  }

  /** Resolves when there were enough requests for a meaningful share. */
  async asked(): Promise<void> {
    while (this.counted.sent < ASKED_MIN) await once(this.steps, "step");
  }

  async end(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    await Promise.all(this.under);
  }

  private step(): void {
    this.steps.emit("step");
    const one = Promise.all([this.ask(), this.look()]).then(() => void this.under.delete(one));
    this.under.add(one);
  }

  private async ask(): Promise<void> {
    this.counted = { ...this.counted, sent: this.counted.sent + 1 };
    if (await this.isServed()) this.counted = { ...this.counted, served: this.counted.served + 1 };
  }

  private isServed(): Promise<boolean> {
    const { hostname, port } = new URL(this.target.url);
    return new Promise((resolve) => {
      const options = { hostname, port, path: this.path, agent: false, localAddress: ORDINARY_ADDRESS };
      const sent = request({ ...options, signal: AbortSignal.timeout(IN_TIME_MS) }, (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode === 200));
        response.once("error", () => resolve(false));
      });
      sent.once("error", () => resolve(false));
      sent.end();
    });
  }

  private async look(): Promise<void> {
    const [rss, descriptors] = await Promise.all([this.target.residentBytes(), this.target.descriptors()]);
    const { rssPeakBytes, descriptorsPeak } = this.counted;
    this.counted = {
      ...this.counted,
      rssPeakBytes: Math.max(rssPeakBytes, rss),
      descriptorsPeak: Math.max(descriptorsPeak, descriptors),
    };
  }
}
