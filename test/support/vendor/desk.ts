import type { FakeResponse, FakeApi } from "../provider-kit/index.js";
import type { CallbackSender } from "./callbacks.js";
import type { CallKind, Purchase, PurchaseRequest, Purchases } from "./purchases.js";

/** What a completed job of any of its models costs an account. */
export const CREDIT_COST = 1;

/** A call that concerns a purchase. */
export interface VendorCall {
  readonly kind: CallKind;
  readonly purchase: Purchase;
  /** Of a download: the number of its link. Every reply and callback that names the file has a new link, from 1 on. */
  readonly link?: number;
}

/** What the protocols of a vendor share. */
export interface VendorDesk {
  readonly fake: FakeApi;
  readonly purchases: Purchases;
  readonly callbacks: CallbackSender;
  /** The refusal of a creating call, of which nothing is bought; null: it is accepted. */
  refusal(request: PurchaseRequest): FakeResponse | null;
  /** What is replied instead of the usual; null: the usual. The work is done all the same. */
  reply(call: VendorCall): FakeResponse | null;
  /** A new link to the file of finished work. */
  linkTo(purchase: Purchase): string;
}
