import { TEST_FILES } from "./scaffold-tests.js";

/** What a new package is made of; `__ID__`, `__LABEL__` and `__CLASS__` stand for the provider. */
const SOURCE_FILES: Readonly<Record<string, string>> = {
  ".gitignore": `dist/
node_modules/
`,
  "tsconfig.json": `{
  "compilerOptions": {
    "target": "ES2023",
    "lib": ["ES2023"],
    "module": "NodeNext",
    "moduleResolution": "NodeNext",
    "rootDir": ".",
    "outDir": "dist",
    "declaration": true,
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "verbatimModuleSyntax": true,
    "skipLibCheck": true,
    "types": ["node", "mocha"]
  },
  "include": ["src", "test"]
}
`,
  "README.md": `# __LABEL__ for Fermata

A provider plugin. In Fermata's config:

\`\`\`yaml
plugins:
  __ID__:
    use: "fermata-__ID__"
    apiKey: "…"
\`\`\`

## To make it real

\`npm install\`, then \`npm test\`: the conformance suite is red in one place, \`toTracks\` in \`src/map.ts\`. From there:

1. \`src/map.ts\`: write \`toTracks\`, which turns their finished task into tracks. The suite is green, against an API that was made up.
2. \`test/harness.ts\`: let the fake answer as the real API does, by its documentation, one scenario after the other.
3. \`src/client.ts\` and \`src/map.ts\`: follow, until the suite is green again.
4. \`src/index.ts\`: their models, with their limits and what a piece is to cost.

\`npm run check\` names what the host would refuse. \`package.json\` names the Fermata that this package was made with, by its folder: where it lies
elsewhere, change the path.
`,
  "src/index.ts": `import { defineProvider, PROVIDER_PORT_VERSION } from "fermata/provider";
import { __CLASS__Provider } from "./provider.js";

export default defineProvider({
  id: "__ID__",
  label: "__LABEL__",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  // The host ends a call that takes longer: add time-outs up where one call makes several requests.
  longestCallMs: ({ timeoutSeconds }) => Number(timeoutSeconds) * 1_000,
  settings: {
    apiKey: { type: "string", required: true, secret: true, description: "Key from the provider's console" },
    baseUrl: { type: "string", default: "https://api.__ID__.example", description: "Where its API is, without a slash at its end" },
    timeoutSeconds: { type: "integer", default: 30, minimum: 1, maximum: 600, description: "How long one call may take" },
  },
  models: [
    {
      id: "__ID__/v1",
      name: "__LABEL__ v1",
      creditCost: 10,
      supportsLyrics: true,
      supportsInstrumental: true,
      duration: { minSeconds: 10, maxSeconds: 240, defaultSeconds: 60 },
    },
  ],
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false, callbacks: "none" },
  create: (host) => new __CLASS__Provider(host),
});
`,
  "src/provider.ts": `import { ProviderFailure } from "fermata/provider";
import type { Accepted, CallContext, Completed, MusicProvider, ProviderHandle, ProviderHost, Snapshot, SubmitRequest } from "fermata/provider";
import { Client } from "./client.js";
import { toBody, toSnapshot } from "./map.js";

const POLL_MS = 5_000;

export class __CLASS__Provider implements MusicProvider {
  private readonly client: Client;

  constructor(host: ProviderHost) {
    this.client = new Client(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed | Accepted> {
    if (request.operation !== "music") throw new ProviderFailure("invalid_input", "It makes music, and takes no tracks apart.", { billable: "no" });
    const id = await this.client.create(toBody(request), signal);
    // Whatever \`poll\` needs later, also in another process. Never the key.
    return { state: "accepted", handle: { version: 1, data: { id } }, nextPollMs: POLL_MS };
  }

  async poll({ data }: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    return toSnapshot(await this.client.task(String(data["id"]), signal), POLL_MS);
  }
}
`,
  "src/client.ts": `import { ProviderApi, ProviderFailure, providerFailure } from "fermata/provider";
import type { ApiAnswer, ProviderHost } from "fermata/provider";

/** A task, as their API tells of it. */
export interface Task {
  readonly id: string;
  readonly status: string;
  readonly files?: readonly { readonly url: string; readonly title?: string; readonly seconds?: number }[];
  readonly error?: { readonly code?: string; readonly message?: string };
}

/** Their API. Every failure is a ProviderFailure by \`ProviderApi\`; \`refusalOf\` has what only they say. */
export class Client {
  private readonly api: ProviderApi;

  constructor({ settings, fetch }: ProviderHost) {
    this.api = new ProviderApi({
      fetch,
      baseUrl: String(settings["baseUrl"]),
      headers: { authorization: "Bearer " + String(settings["apiKey"]) },
      timeoutMs: Number(settings["timeoutSeconds"]) * 1_000,
      judge: refusalOf,
    });
  }

  /** @returns the new task's id */
  async create(body: object, signal: AbortSignal): Promise<string> {
    // \`creates\`: a reply that is lost is \`outcome_unknown\`, for the work may run there.
    const answer = await this.api.call({ path: "/v1/music", json: body, creates: true, signal });
    const id = (answer.json() as Partial<Task> | null | undefined)?.id;
    if (typeof id !== "string") throw providerFailure("outcome_unknown", answer, { message: "It answered no task." });
    return id;
  }

  async task(id: string, signal: AbortSignal): Promise<Task> {
    // \`asksAfter\`: what does not say that the work ended is \`unavailable\`, and asked again.
    const answer = await this.api.call({ path: "/v1/tasks/" + encodeURIComponent(id), asksAfter: true, signal });
    const task = answer.json() as Partial<Task> | null | undefined;
    // What is no task does not say that the work failed: it is asked after again.
    if (typeof task?.status !== "string") throw providerFailure("unavailable", answer, { message: "It answered no task." });
    return { ...task, id, status: task.status };
  }
}

/** What an error of theirs means; undefined: what its status commonly means. Some say 200 to errors: every answer comes by here. */
function refusalOf(answer: ApiAnswer): ProviderFailure | undefined {
  const error = (answer.json() as Partial<Task> | null | undefined)?.error;
  if (error?.code === "content_policy") return providerFailure("content_rejected", answer, { code: error.code });
  return undefined;
}
`,
  "src/map.ts": `import { ProviderFailure } from "fermata/provider";
import type { MusicRequest, ProviderTrack, Snapshot } from "fermata/provider";
import type { Task } from "./client.js";

/** Our request in their words. */
export function toBody({ model, prompt, lyrics, durationSeconds, instrumental, attemptId }: MusicRequest): object {
  return {
    model: model.upstream ?? model.id.slice(model.id.indexOf("/") + 1),
    prompt,
    ...(lyrics === null ? {} : { lyrics }),
    ...(durationSeconds === null ? {} : { seconds: durationSeconds }),
    instrumental,
    reference: attemptId,
  };
}

/** Their task in our words. */
export function toSnapshot(task: Task, pollMs: number): Snapshot {
  switch (task.status) {
    case "queued":
    case "running":
      return { state: "running", nextPollMs: pollMs };
    case "succeeded":
      if ((task.files ?? []).length === 0) throw new ProviderFailure("failed", "Task " + task.id + " succeeded without files.");
      return { state: "completed", tracks: toTracks(task) };
    case "failed":
      // An end without their code, or their word for it, is doubted, and asked again for a while.
      throw new ProviderFailure("failed", "Task " + task.id + " failed: " + (task.error?.message ?? "no reason given"), {
        providerCode: task.error?.code ?? task.status,
      });
    case "cancelled":
      throw new ProviderFailure("cancelled", "Task " + task.id + " was cancelled there.");
    default:
      // A word that they have come up with since does not say that the work failed: it is asked after again.
      throw new ProviderFailure("unavailable", "Task " + task.id + " is " + task.status + ", which is no state known here.");
  }
}

/**
 * Their files as tracks: one for each, with one asset of role "mix", label "full", and a source that the host fetches,
 * { kind: "url", url }. Give contentType null where it is to be found out from the bytes.
 */
export function toTracks(task: Task): readonly ProviderTrack[] {
  throw new ProviderFailure("failed", "toTracks in src/map.ts is not written yet (task " + task.id + ").");
}
`,
};

/** Versions of what a package is built and tested with. */
export const DEVELOPMENT_TOOLS: Readonly<Record<string, string>> = {
  "@types/mocha": "^10.0.10",
  "@types/node": "^20.19.43",
  chai: "^6.3.0",
  fflate: "^0.8.3",
  mocha: "^12.0.3",
  typescript: "^5.9.3",
};

/**
 * The files of a provider package that builds, and whose tests fail in one place only.
 *
 * @param id the provider's id
 * @param root the folder of the Fermata that the package is built and tested with; it is on no registry
 * @returns text by path
 */
export function scaffold(id: string, root: string): ReadonlyMap<string, string> {
  const words = id.split("-").filter((word) => word !== "");
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  const joined = words.map(capital).join("");
  const names = {
    __ID__: id,
    __LABEL__: words.map(capital).join(" "),
    // A class cannot begin with a digit.
    __CLASS__: /^\d/.test(joined) ? `The${joined}` : joined,
  };
  const named = (text: string): string =>
    Object.entries(names).reduce((whole, [placeholder, name]) => whole.replaceAll(placeholder, name), text);
  const files = Object.entries({ ...SOURCE_FILES, ...TEST_FILES }).map(([path, text]) => [path, named(text)] as const);
  return new Map([["package.json", packageJson(id, root)], ...files]);
}

function packageJson(id: string, root: string): string {
  const document = {
    name: `fermata-${id}`,
    version: "0.1.0",
    description: "A provider plugin for Fermata",
    type: "module",
    exports: "./dist/src/index.js",
    files: ["dist/src"],
    scripts: {
      build: "tsc",
      check: "tsc && fermata plugins check .",
      test: "tsc && mocha --timeout 20000 'dist/test/*.test.js'",
      prepack: "tsc",
    },
    peerDependencies: { fermata: "*" },
    devDependencies: { fermata: `file:${root}`, ...DEVELOPMENT_TOOLS },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
