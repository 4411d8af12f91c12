import { createPrivateKey, type KeyObject } from "node:crypto";
import { baseUrl, defineSettings, httpUrl, isObject, parseJson, pollMs, timeoutMs } from "../sdk/index.js";
import type { ProviderHost, ProviderModel } from "../sdk/index.js";

/** `options.api` of a model: the API that serves it. */
export const APIS = ["gemini", "vertex"] as const;

/** Calls of the Gemini API that create music. */
export const GEMINI_APIS = ["interactions", "generateContent"] as const;

export const SETTINGS = defineSettings({
  apiKey: { type: "string", secret: true, description: "Key of the Gemini API: opens Lyria 3 and 3.5" },
  serviceAccount: {
    type: "string",
    secret: true,
    description: "JSON of a service account's key: opens Lyria 2 on Vertex AI",
  },
  project: { type: "string", description: "Project on Vertex AI; left out: that of the service account" },
  location: { type: "string", default: "us-central1", description: "Location on Vertex AI" },
  geminiUrl: baseUrl(
    "https://generativelanguage.googleapis.com/v1beta",
    "Base URL of the Gemini API, without a slash at its end",
  ),
  geminiApi: {
    type: "string",
    default: "interactions",
    allowed: GEMINI_APIS,
    description: "Call of the Gemini API: work that is polled, or one call that responds with the music",
  },
  pollMs: pollMs(5_000, { minimum: 1_000, description: "How often work in the background is polled" }),
  vertexUrl: {
    type: "string",
    description: "Base URL of Vertex AI, without a slash at its end; left out: as the location has it",
  },
  timeoutMs: timeoutMs(300_000, {
    maximum: 1_800_000,
    description: "How long one call may take; the music comes in the response, after minutes",
  }),
});

export type Host = ProviderHost<typeof SETTINGS>;

/** The members of a service account's key. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKey: KeyObject;
  readonly keyId: string | null;
  readonly tokenUrl: string;
  readonly projectId: string | null;
}

/** The settings, checked; null: an API without a key. */
export interface Config {
  readonly gemini: { readonly apiKey: string; readonly baseUrl: string; readonly inBackground: boolean } | null;
  readonly vertex: { readonly account: ServiceAccount; readonly baseUrl: string; readonly parent: string } | null;
}

/** @throws {Error} naming the issue, without secrets */
export function readSettings({ settings, models }: Pick<Host, "settings" | "models">): Config {
  const { apiKey, serviceAccount, project, location, geminiUrl, vertexUrl } = settings;
  if (apiKey === undefined && serviceAccount === undefined)
    throw new Error("apiKey, serviceAccount: neither is set; allowed: the one, the other, or both");
  const inBackground = isInBackground(settings);
  const gemini = apiKey === undefined ? null : { apiKey, baseUrl: httpUrl("geminiUrl", geminiUrl), inBackground };
  if (serviceAccount === undefined) return withBackends({ gemini, vertex: null }, models);
  const account = readAccount(serviceAccount);
  const projectId = project ?? account.projectId;
  if (projectId === null)
    throw new Error("project: missing, and the service account names none; allowed: a project of Google Cloud");
  const parent = `projects/${encodeURIComponent(projectId)}/locations/${encodeURIComponent(location)}`;
  const url = httpUrl("vertexUrl", vertexUrl ?? `https://${location}-aiplatform.googleapis.com/v1`);
  return withBackends({ gemini, vertex: { account, baseUrl: url, parent } }, models);
}

/** True where there is work that can be polled and cancelled. */
export function isInBackground({ apiKey, geminiApi }: Host["settings"]): boolean {
  return apiKey !== undefined && geminiApi === "interactions";
}

/** A model on an API without a key would fail every request. */
function withBackends(config: Config, models: readonly ProviderModel[]): Config {
  const closed = models.filter(({ options }) => config[options?.["api"] as (typeof APIS)[number]] === null);
  if (closed.length === 0) return config;
  const ids = closed.map(({ id }) => id).join(", ");
  const setting = config.gemini === null ? "apiKey" : "serviceAccount";
  throw new Error(
    `${setting}: missing, and needed for ${ids}; set it, or leave the models out (\`models\`, with \`enabled: false\`)`,
  );
}

function readAccount(text: string): ServiceAccount {
  const allowed = "allowed: the JSON of a service account's key, with client_email, private_key and token_uri";
  const account = parseJson(text);
  if (!isObject(account)) throw new Error(`serviceAccount: it is not a JSON object; ${allowed}`);
  const {
    client_email: clientEmail,
    private_key: pem,
    private_key_id: keyId,
    token_uri: tokenUrl,
    project_id: projectId,
  } = account;
  if (typeof clientEmail !== "string" || typeof pem !== "string" || typeof tokenUrl !== "string")
    throw new Error(`serviceAccount: a member is missing; ${allowed}`);
  if (!URL.canParse(tokenUrl)) throw new Error(`serviceAccount: its token_uri is not a URL; ${allowed}`);
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
    // The library's message is not repeated: it could quote the key.
    throw new Error(`serviceAccount: its private_key cannot be read; ${allowed}`);
  }
}
