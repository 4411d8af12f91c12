import { EventEmitter, once } from "node:events";
import { tinyMp3 } from "../provider-kit/index.js";

/** The calls of one purchase after the creating one. */
type LaterCall = "poll" | "download" | "cancel";

export type CallKind = "create" | LaterCall;

/** What a creating call says of the work. */
export interface PurchaseRequest {
  /** Our job, where the call names it. */
  readonly jobId: string | null;
  readonly idempotencyKey: string | null;
  readonly prompt: string;
}

/** A creating call that the vendor accepted: it renders and bills it, whatever the client does. */
export interface Purchase extends PurchaseRequest {
  readonly id: string;
  /** The file that it makes; no two are equal. */
  readonly audio: Uint8Array;
  /** `performance.now()` at the acceptance. */
  readonly boughtAt: number;
  /** Resolves when the file is there or the work was cancelled. */
  readonly ended: Promise<void>;
  /** `lost`: the vendor itself lost the result. */
  state: "queued" | "rendering" | "finished" | "cancelled" | "lost";
  /** Calls of each kind so far, the one under way included. */
  readonly calls: Record<LaterCall, number>;
}

export interface RenderOptions {
  /** Renders at once; further purchases wait in their order. */
  readonly slots: number;
  readonly renderMs: number;
  /** Whether a repeated call with the same idempotency key is the same purchase. */
  readonly isIdempotent?: boolean;
  /** What the vendor accepts and renders, and then loses the result of. */
  readonly isLost?: (request: PurchaseRequest) => boolean;
}

/** A purchase that does not come within this time never comes. */
const BOUND_MS = 45_000;

/** What a vendor sold, and its render slots. */
export class Purchases {
  /** In the order of their acceptance. */
  readonly all: Purchase[] = [];
  private readonly ends = new Map<Purchase, () => void>();
  private readonly timers = new Map<Purchase, NodeJS.Timeout>();
  private readonly events = new EventEmitter().setMaxListeners(0);
  private isHeld = false;
  private readonly held = new Set<Purchase>();

  constructor(private readonly options: RenderOptions) {}

  accept(request: PurchaseRequest): Purchase {
    const known = this.options.isIdempotent === true ? this.ofKey(request.idempotencyKey) : undefined;
    if (known !== undefined) return known;
    const id = `work-${this.all.length + 1}`;
    let end = (): void => undefined;
    const purchase: Purchase = {
      ...request,
      id,
      audio: tinyMp3(`${id} `),
      boughtAt: performance.now(),
      ended: new Promise((resolve) => {
        end = resolve;
      }),
      state: "queued",
      calls: { poll: 0, download: 0, cancel: 0 },
    };
    this.all.push(purchase);
    this.ends.set(purchase, end);
    this.fillSlots();
    this.events.emit("accepted");
    return purchase;
  }

  find(id: string | undefined): Purchase | undefined {
    return this.all.find((purchase) => purchase.id === id);
  }

  /** @returns false when it had ended before */
  cancel(purchase: Purchase): boolean {
    return this.end(purchase, "cancelled");
  }

  /** From now on no render finishes before {@link release}. */
  hold(): void {
    this.isHeld = true;
  }

  /** Finishes the renders whose time is over, and lets the others go on. */
  release(): void {
    this.isHeld = false;
    for (const purchase of this.held) this.end(purchase, "finished");
    this.held.clear();
  }

  /** Resolves with the `count`-th purchase. */
  async bought(count: number): Promise<Purchase> {
    const bound = AbortSignal.timeout(BOUND_MS);
    for (;;) {
      const purchase = this.all[count - 1];
      if (purchase !== undefined) return purchase;
      await once(this.events, "accepted", { signal: bound }).catch(() => {
        throw new Error(`The vendor sold ${this.all.length} of ${count} within ${BOUND_MS} ms.`);
      });
    }
  }

  /** Renders nothing more. */
  close(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private fillSlots(): void {
    const { slots, renderMs } = this.options;
    const rendering = this.all.filter(({ state }) => state === "rendering").length;
    const next = this.all.filter(({ state }) => state === "queued").slice(0, Math.max(0, slots - rendering));
    for (const purchase of next) {
      purchase.state = "rendering";
      this.timers.set(
        purchase,
        setTimeout(() => this.rendered(purchase), renderMs),
      );
    }
  }

  private rendered(purchase: Purchase): void {
    if (this.isHeld) this.held.add(purchase);
    else this.end(purchase, this.options.isLost?.(purchase) === true ? "lost" : "finished");
  }

  private ofKey(key: string | null): Purchase | undefined {
    return key === null ? undefined : this.all.find(({ idempotencyKey }) => idempotencyKey === key);
  }

  private end(purchase: Purchase, state: "finished" | "cancelled" | "lost"): boolean {
    if (purchase.state !== "queued" && purchase.state !== "rendering") return false;
    purchase.state = state;
    clearTimeout(this.timers.get(purchase));
    this.ends.get(purchase)?.();
    this.fillSlots();
    return true;
  }
}
