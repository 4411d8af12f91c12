import { createHash } from "node:crypto";
import { asObject, isObject, NO_TAGS, ProviderFailure } from "../sdk/index.js";
import type { Completed, JsonObject, ProviderAsset, ProviderTrack, UrlSource } from "../sdk/index.js";

/** Which node saves which file. Stored in the handle and, for lost replies, in the job. */
export interface Wanted {
  readonly operation: "music" | "stems";
  /** By `mix` and `master`, or by the labels of stems. */
  readonly nodes: { readonly [name: string]: string };
}

/** Member of `extra_data` that holds {@link Wanted}. */
const WANTED = "fermata";

export function extraDataOf(wanted: Wanted, attemptId: string): JsonObject {
  return { [WANTED]: { ...wanted, attempt_id: attemptId } };
}

/** Null when the value is not one. */
export function wantedIn(value: unknown): Wanted | null {
  const { operation, nodes } = asObject(value);
  if ((operation !== "music" && operation !== "stems") || !isObject(nodes)) return null;
  const areIds = Object.values(nodes).every((node) => typeof node === "string");
  return areIds ? { operation, nodes: nodes as Wanted["nodes"] } : null;
}

export function wantedOf(extraData: JsonObject): Wanted | null {
  return wantedIn(extraData[WANTED]);
}

/** The same UUID for the same attempt: a lookup after a lost reply uses it. */
export function promptIdOf(attemptId: string): string {
  const bytes = createHash("sha256").update(`fermata:comfyui:${attemptId}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A new seed for every attempt: the server skips nodes whose inputs it has seen before. */
export function seedOf(attemptId: string): number {
  return createHash("sha256").update(`fermata:seed:${attemptId}`).digest().readUIntBE(0, 6);
}

/** The result of a completed job. @param wanted null: every saved file is a track */
export function completedOf(
  outputs: JsonObject,
  wanted: Wanted | null,
  sourceOf: SourceOf,
): Completed | ProviderFailure {
  const filesOf = (node = ""): UrlSource[] => filesIn(outputs[node], sourceOf);
  if (wanted?.operation === "stems") {
    const stems = Object.entries(wanted.nodes).flatMap(([label, node]): ProviderAsset[] =>
      filesOf(node)
        .slice(0, 1)
        .map((source) => assetOf("stem", label, source)),
    );
    const missing = Object.keys(wanted.nodes).find((label) => !stems.some((stem) => stem.label === label));
    return missing === undefined ? { state: "completed", tracks: [], stems } : noFile(`the node of ${missing}`);
  }
  const mixes = wanted === null ? Object.keys(outputs).flatMap((node) => filesOf(node)) : filesOf(wanted.nodes["mix"]);
  const masters = filesOf(wanted?.nodes["master"]);
  const tracks = mixes.map((mix, index): ProviderTrack => {
    const master = masters[index];
    const assets = [assetOf("mix", "full", mix), ...(master === undefined ? [] : [assetOf("master", "full", master)])];
    return { title: null, bpm: null, tags: NO_TAGS, assets };
  });
  if (tracks.length === 0) return noFile(wanted === null ? "any node" : `node ${String(wanted.nodes["mix"])}`);
  return { state: "completed", tracks };
}

/** The source of a file in the outputs; null when the entry is no file. */
export type SourceOf = (file: JsonObject) => UrlSource | null;

export function sourcesOf(baseUrl: string, headers: { readonly [name: string]: string }): SourceOf {
  return ({ filename, subfolder, type }) => {
    if (typeof filename !== "string" || filename === "") return null;
    const textOf = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise);
    const query = new URLSearchParams({ filename, subfolder: textOf(subfolder, ""), type: textOf(type, "output") });
    return { kind: "url", url: `${baseUrl}/view?${query.toString()}`, headers };
  };
}

function filesIn(output: unknown, sourceOf: SourceOf): UrlSource[] {
  const { audio } = asObject(output);
  return (Array.isArray(audio) ? audio : []).flatMap((file) => sourceOf(asObject(file)) ?? []);
}

function assetOf(role: ProviderAsset["role"], label: string, source: UrlSource): ProviderAsset {
  return { role, label, contentType: null, durationSeconds: null, source };
}

function noFile(where: string): ProviderFailure {
  const message = `The job completed, and ${where} saved no audio.`;
  return new ProviderFailure("failed", message, { providerCode: "no_file" });
}
