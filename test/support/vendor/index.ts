/** A scripted vendor of renders that counts purchases, to sit behind the plugins http-model and replicate. */
export { CREDIT_COST, type VendorCall } from "./desk.js";
export { HTTP_MODEL, httpModelPlugin, type HttpModelOptions } from "./http-model-api.js";
export type { CallKind, Purchase, PurchaseRequest, RenderOptions } from "./purchases.js";
export { REPLICATE_MODEL, replicatePlugin } from "./replicate-api.js";
export { Vendor } from "./vendor.js";
