import { fault, json } from "../provider-kit/index.js";
import { openRelayTo, type Relay } from "../relay.js";
import { HTTP_MODEL, REPLICATE_MODEL, Vendor } from "../vendor/index.js";

/**
 * The vendor sells both. Of a reply that was lost, the one finds out by the key of a repeated call, the other by a
 * signed callback.
 */
export const MODELS = [HTTP_MODEL, REPLICATE_MODEL] as const;

/**
 * What becomes of a generation, as a word of its prompt; more entries mean a higher probability. `refused`: the vendor
 * has no capacity at first. `rejected`: it refuses the content. `cut`: it accepts, and the connection ends before its
 * reply. `lost`: it accepts, and loses the result.
 */
export const FATES = [
  "plain",
  "plain",
  "plain",
  "plain",
  "plain",
  "refused",
  "rejected",
  "cut",
  "cut",
  "lost",
] as const;

const REJECTED = { error: { code: "content_rejected", message: "The content is refused." } };

const hasFate = (prompt: string, fate: (typeof FATES)[number]): boolean => prompt.endsWith(` ${fate}`);

export interface ScriptedVendor {
  readonly vendor: Vendor;
  /** The way to its files. */
  readonly files: Relay;
  close(): Promise<void>;
}

export async function openScriptedVendor(renderMs: number): Promise<ScriptedVendor> {
  const isLost = ({ prompt }: { readonly prompt: string }): boolean => hasFate(prompt, "lost");
  const vendor = await Vendor.open({ slots: 16, renderMs, isIdempotent: true, isLost });
  const { hostname, port } = new URL(vendor.url);
  const files = await openRelayTo({ host: hostname, port: Number(port) });
  vendor.filesUrl = `http://${files.address}`;
  const refused = new Set<string>();
  vendor.refuse = ({ prompt }) => {
    if (hasFate(prompt, "rejected")) return json(REJECTED, { status: 422 });
    if (!hasFate(prompt, "refused") || refused.has(prompt)) return null;
    refused.add(prompt);
    return json({ error: { message: "No capacity." } }, { status: 503, headers: { "Retry-After": "1" } });
  };
  const cut = new Set<string>();
  vendor.script = ({ kind, purchase }) => {
    if (kind !== "create" || !hasFate(purchase.prompt, "cut") || cut.has(purchase.id)) return null;
    cut.add(purchase.id);
    return fault("cut-reply");
  };
  const close = async (): Promise<void> => {
    await Promise.all([files.close(), vendor.close()]);
  };
  return { vendor, files, close };
}
