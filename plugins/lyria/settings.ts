import { createPrivateKey, type KeyObject } from "node:crypto";
import type { ProviderHost, ProviderModel, ProviderSetting } from "../../core/ports/music-provider.js";

/** `options.api` of a model: the door that it is behind. */
export const APIS = ["gemini", "vertex"] as const;

/** Calls of the Gemini API that make music. */
export const GEMINI_APIS = ["interactions", "generateContent"] as const;

export const SETTINGS: Readonly<Record<string, ProviderSetting>> = {
  apiKey: { type: "string", secret: true, description: "Key of the Gemini API: opens Lyria 3 and 3.5" },
  serviceAccount: { type: "string", secret: true, description: "JSON of a service account's key: opens Lyria 2 on Vertex AI" },
  project: { type: "string", description: "Project on Vertex AI; left out: that of the service account" },
  location: { type: "string", default: "us-central1", description: "Location on Vertex AI" },
  geminiUrl: {
    type: "string",
    default: "https://generativelanguage.googleapis.com/v1beta",
    description: "Where the Gemini API is, without a slash at its end",
  },
  geminiApi: {
    type: "string",
    default: "interactions",
    allowed: GEMINI_APIS,
    description: "Call of the Gemini API: work that is polled, or one call that responds with the music",
  },
  pollMs: {
    type: "integer",
    default: 5_000,
    minimum: 1_000,
    maximum: 600_000,
    description: "How often work in the background is polled",
  },
  vertexUrl: { type: "string", description: "Where Vertex AI is, without a slash at its end; left out: as the location has it" },
  timeoutMs: {
    type: "integer",
    default: 300_000,
    minimum: 1_000,
    maximum: 1_800_000,
    description: "How long one call may take; the music comes in the answer, after minutes",
  },
};

/** What a service account's key says of itself. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKey: KeyObject;
  readonly keyId: string | null;
  readonly tokenUrl: string;
  readonly projectId: string | null;
}

/** The settings, checked; null stands for a door without a key. */
export interface Config {
  readonly gemini: { readonly apiKey: string; readonly baseUrl: string; readonly inBackground: boolean } | null;
  readonly vertex: { readonly account: ServiceAccount; readonly baseUrl: string; readonly parent: string } | null;
  readonly timeoutMs: number;
  readonly pollMs: number;
}

/** @throws {Error} naming what is wrong, without what is secret */
export function readSettings({ settings, models }: Pick<ProviderHost, "settings" | "models">): Config {
  const { apiKey, serviceAccount, project, location, geminiUrl, vertexUrl } = settings;
  if (apiKey === undefined && serviceAccount === undefined)
    throw new Error("apiKey, serviceAccount: neither is set; allowed: the one, the other, or both");
  const bare = (url: unknown): string => String(url).replace(/\/+$/, "");
  const inBackground = isInBackground(settings);
  const gemini = apiKey === undefined ? null : { apiKey: String(apiKey), baseUrl: bare(geminiUrl), inBackground };
  const times = { timeoutMs: Number(settings["timeoutMs"]), pollMs: Number(settings["pollMs"]) };
  if (serviceAccount === undefined) return withDoors({ gemini, vertex: null, ...times }, models);
  const account = readAccount(String(serviceAccount));
  const projectId = project ?? account.projectId;
  if (projectId === null) throw new Error("project: missing, and the service account names none; allowed: a project of Google Cloud");
  const parent = `projects/${encodeURIComponent(String(projectId))}/locations/${encodeURIComponent(String(location))}`;
  const baseUrl = bare(vertexUrl ?? `https://${String(location)}-aiplatform.googleapis.com/v1`);
  return withDoors({ gemini, vertex: { account, baseUrl, parent }, ...times }, models);
}

/** True where there is work that can be polled and cancelled. */
export function isInBackground({ apiKey, geminiApi }: ProviderHost["settings"]): boolean {
  return apiKey !== undefined && geminiApi === "interactions";
}

/** A model behind a door without a key would fail whoever chooses it. */
function withDoors(config: Config, models: readonly ProviderModel[]): Config {
  const closed = models.filter(({ options }) => config[options?.["api"] as (typeof APIS)[number]] === null);
  if (closed.length === 0) return config;
  const ids = closed.map(({ id }) => id).join(", ");
  const setting = config.gemini === null ? "apiKey" : "serviceAccount";
  throw new Error(`${setting}: missing, and needed for ${ids}; set it, or leave the models out (\`models\`, with \`enabled: false\`)`);
}

function readAccount(text: string): ServiceAccount {
  const allowed = "allowed: the JSON of a service account's key, with client_email, private_key and token_uri";
  const account = parsed(text);
  if (account === null) throw new Error(`serviceAccount: it is no JSON object; ${allowed}`);
  const { client_email: clientEmail, private_key: pem, private_key_id: keyId, token_uri: tokenUrl, project_id: projectId } = account;
  if (typeof clientEmail !== "string" || typeof pem !== "string" || typeof tokenUrl !== "string")
    throw new Error(`serviceAccount: a member is missing; ${allowed}`);
  if (!URL.canParse(tokenUrl)) throw new Error(`serviceAccount: its token_uri is no URL; ${allowed}`);
  return {
    clientEmail,
    privateKey: readKey(pem, allowed),
    keyId: typeof keyId === "string" ? keyId : null,
    tokenUrl,
    projectId: typeof projectId === "string" && projectId !== "" ? projectId : null,
  };
}

function readKey(pem: string, allowed: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // What the library says of it is not passed on: it could quote the key.
    throw new Error(`serviceAccount: its private_key cannot be read; ${allowed}`);
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}
