import { bytes, type FakeResponse, FakeApi, json } from "../provider-kit/index.js";
import { CallbackSender } from "./callbacks.js";
import type { VendorCall, VendorDesk } from "./desk.js";
import { addHttpModelApi } from "./http-model-api.js";
import { type Purchase, type PurchaseRequest, Purchases, type RenderOptions } from "./purchases.js";
import { addReplicateApi } from "./replicate-api.js";

/**
 * A vendor of renders behind HTTP, with a fixed number of slots. It speaks the protocols of the plugins http-model and
 * replicate, keeps what it finished, and counts what it sold: a purchase is a creating call that it accepted, whether
 * its reply arrives or not.
 */
export class Vendor {
  /** Decides for single calls what is replied instead of the usual: an error, a lost or a late reply. */
  script: (call: VendorCall) => FakeResponse | null = () => null;
  /** Refuses creating calls, of which nothing is bought then. */
  refuse: (request: PurchaseRequest) => FakeResponse | null = () => null;
  /** Where its links to files lead: a relay to it; null: to itself. */
  filesUrl: string | null = null;
  readonly callbacks = new CallbackSender();
  private readonly renders: Purchases;
  private readonly links = new Map<Purchase, number>();

  private constructor(
    private readonly fake: FakeApi,
    options: RenderOptions,
  ) {
    this.renders = new Purchases(options);
    const desk: VendorDesk = {
      fake,
      purchases: this.renders,
      callbacks: this.callbacks,
      refusal: (request) => this.refuse(request),
      reply: (call) => this.script(call),
      linkTo: (purchase) => this.linkTo(purchase),
    };
    addHttpModelApi(desk);
    addReplicateApi(desk);
    fake.on("GET", "/made/:id/:link", ({ params }) => this.download(params["id"], Number(params["link"])));
  }

  /** The caller closes it. */
  static async open(options: RenderOptions): Promise<Vendor> {
    return new Vendor(await FakeApi.open(), options);
  }

  get url(): string {
    return this.fake.url;
  }

  get purchases(): readonly Purchase[] {
    return this.renders.all;
  }

  /** Resolves with the `count`-th purchase. */
  bought(count: number): Promise<Purchase> {
    return this.renders.bought(count);
  }

  /** From now on no render finishes before {@link release}. */
  hold(): void {
    this.renders.hold();
  }

  release(): void {
    this.renders.release();
  }

  async close(): Promise<void> {
    this.renders.close();
    this.callbacks.close();
    await this.fake.close();
  }

  private linkTo(purchase: Purchase): string {
    const link = (this.links.get(purchase) ?? 0) + 1;
    this.links.set(purchase, link);
    return `${this.filesUrl ?? this.url}/made/${purchase.id}/${link}`;
  }

  private download(id: string | undefined, link: number): FakeResponse {
    const purchase = this.renders.find(id);
    if (purchase?.state !== "finished") return json({}, { status: 404 });
    purchase.calls.download += 1;
    return this.script({ kind: "download", purchase, link }) ?? bytes(purchase.audio, "audio/mpeg");
  }
}
