export const LANGUAGES = ["curl", "JavaScript", "Python"] as const;
export type Language = (typeof LANGUAGES)[number];

/** A request with an API key. */
export interface CodeRequest {
  readonly method: string;
  /** What the address begins with, without a slash at its end. */
  readonly base: string;
  /** As the description has it: `/api/v1/tracks/{id}`. */
  readonly path: string;
  /** What stands for the names in `path`. */
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | number>>;
  /** In addition to those of the key and of the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: CodeBody;
  /**
   * What is done with the response: its data is shown; or what is at the `status_url` in it, for a job; or its text as
   * it arrives. The client, in JavaScript, waits for a job and shows what became of it.
   */
  readonly shows: "data" | "job" | "text";
}

/** JSON; or a form, with the names of files that are sent. */
export type CodeBody =
  | { readonly json: unknown }
  | { readonly texts: Readonly<Record<string, string>>; readonly files: Readonly<Record<string, string>> };

/** The whole address, with its query. */
export function addressOf({ base, path, pathParameters, query }: CodeRequest): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(pathParameters[name] ?? ""));
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  return `${base}${filled}${search.size === 0 ? "" : `?${search}`}`;
}

const WRITERS: Readonly<Record<Language, (request: CodeRequest) => string>> = {
  curl: curlOf,
  JavaScript: javascriptOf,
  Python: pythonOf,
};

/** A request as code that runs as it is, with the API key in the environment variable `FERMATA_API_KEY`. */
export function codeOf(language: Language, request: CodeRequest): string {
  return WRITERS[language](request);
}

const KEY_COMMENT = "The key makes a retry safe: the same request is never charged twice.";

function isCharged({ headers }: CodeRequest): boolean {
  return "Idempotency-Key" in headers;
}

function curlOf(request: CodeRequest): string {
  const { method, headers, body, shows } = request;
  const sends = body === undefined ? "GET" : "POST";
  const options = [
    `curl ${shows === "text" ? "-sSN" : "-sS"} ${method === sends ? "" : `-X ${method} `}${quoted(addressOf(request))}`,
    `-H "Authorization: Bearer $FERMATA_API_KEY"`,
    ...(body !== undefined && "json" in body ? ["-H 'Content-Type: application/json'"] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
  ];
  if (body !== undefined && "json" in body) options.push(`-d ${quoted(JSON.stringify(body.json, null, 2))}`);
  if (body !== undefined && "texts" in body) {
    for (const [name, text] of Object.entries(body.texts)) options.push(`--form-string ${quoted(`${name}=${text}`)}`);
    for (const [name, file] of Object.entries(body.files)) options.push(`-F ${quoted(`${name}=@${file}`)}`);
  }
  return options.join(" \\\n  ");
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A function of the client, and its arguments as code. */
type ClientCall = readonly [name: string, ...args: string[]];

/** Operations for which the client has more than a request: these calls wait until the job has ended. */
const FUNCTIONS: Readonly<Record<string, (request: CodeRequest) => ClientCall>> = {
  "POST /api/v1/generations": (request) => ["generate", ...chargedArguments(request)],
  "POST /api/v1/tracks/{id}/stems": (request) => ["split", firstOf(request), ...chargedArguments(request)],
  "POST /api/v1/tracks/{id}/vocal-removal": (request) => [
    "removeVocals",
    firstOf(request),
    ...chargedArguments(request),
  ],
  "GET /api/v1/jobs/{job_id}/events": (request) => ["wait", firstOf(request), "{ onProgress: console.log }"],
};

function firstOf({ pathParameters }: CodeRequest): string {
  return JSON.stringify(Object.values(pathParameters)[0] ?? "");
}

function chargedArguments({ headers, body }: CodeRequest): string[] {
  const input = body !== undefined && "json" in body ? body.json : {};
  return [javascriptLiteral(input), javascriptLiteral({ idempotencyKey: headers["Idempotency-Key"] })];
}

function javascriptOf(request: CodeRequest): string {
  const { method, base, path, body } = request;
  const form = body !== undefined && "texts" in body ? body : null;
  const call: ClientCall = FUNCTIONS[`${method} ${path}`]?.(request) ?? [method, ...plainArguments(request)];
  const [name, ...args] = call;
  return [
    'import { createClient } from "fermata-music/client";\n',
    ...(form !== null && Object.keys(form.files).length > 0 ? ['import { openAsBlob } from "node:fs";\n'] : []),
    `\nconst client = createClient({\n  baseUrl: ${JSON.stringify(base)},\n`,
    "  apiKey: process.env.FERMATA_API_KEY,\n});\n",
    ...(form === null ? [] : [javascriptForm(form)]),
    isCharged(request) ? `\n// ${KEY_COMMENT}\n` : "\n",
    args.length < 3 && !args.slice(0, -1).join().includes("\n")
      ? `const data = await client.${name}(${args.join(", ")});\n`
      : `const data = await client.${name}(\n${args.map((each) => `  ${indented(each, "  ")},\n`).join("")});\n`,
    "console.log(JSON.stringify(data, null, 2));\n",
  ].join("");
}

/** Of a call by its path: `client.GET("/api/v1/tracks/{id}", { params: { path: { id: "…" } } })`. */
function plainArguments({ path, pathParameters, query, headers, body }: CodeRequest): string[] {
  const params = {
    ...(Object.keys(pathParameters).length === 0 ? {} : { path: pathParameters }),
    ...(Object.keys(query).length === 0 ? {} : { query }),
  };
  const init = [
    ...(Object.keys(params).length === 0 ? [] : [`params: ${javascriptLiteral(params)}`]),
    ...(Object.keys(headers).length === 0 ? [] : [`headers: ${javascriptLiteral(headers)}`]),
    ...(body === undefined ? [] : "json" in body ? [`body: ${javascriptLiteral(body.json)}`] : ["body"]),
  ];
  if (init.length === 0) return [JSON.stringify(path)];
  return [JSON.stringify(path), `{\n${init.map((each) => `  ${indented(each, "  ")},\n`).join("")}}`];
}

/** JSON without the quotes that names need not have: a line of it that begins with a text and a colon is a member. */
function javascriptLiteral(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)": /gm, "$1$2: ");
}

function javascriptForm({ texts, files }: Exclude<CodeBody, { readonly json: unknown }>): string {
  return [
    "\nconst body = new FormData();\n",
    ...Object.entries(files).map(
      ([name, file]) =>
        `body.append(${JSON.stringify(name)}, await openAsBlob(${JSON.stringify(file)}), ${JSON.stringify(file)});\n`,
    ),
    ...Object.entries(texts).map(([name, text]) => `body.append(${JSON.stringify(name)}, ${JSON.stringify(text)});\n`),
  ].join("");
}

function pythonOf(request: CodeRequest): string {
  const { method, headers, body, shows } = request;
  const isJson = body !== undefined && "json" in body;
  const own = Object.entries({ ...(isJson ? { "Content-Type": "application/json" } : {}), ...headers }).map(
    ([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`,
  );
  if (body !== undefined && !isJson)
    own.unshift('        "Content-Type": f"multipart/form-data; boundary={boundary}",\n');
  return [
    `import ${shows === "text" ? "" : "json, "}os, ${body !== undefined && !isJson ? "uuid, " : ""}urllib.request\n\n`,
    `headers = {"Authorization": f"Bearer {os.environ['FERMATA_API_KEY']}"}\n`,
    ...(body !== undefined && !isJson ? [pythonForm(body)] : []),
    isCharged(request) ? `\n# ${KEY_COMMENT}\n` : "\n",
    `request = urllib.request.Request(\n    ${JSON.stringify(addressOf(request))},\n`,
    ...(method === (body === undefined ? "GET" : "POST") ? [] : [`    method=${JSON.stringify(method)},\n`]),
    ...(isJson ? [`    data=json.dumps(${indented(pythonLiteral(body.json), "    ")}).encode(),\n`] : []),
    ...(body !== undefined && !isJson ? ["    data=form,\n"] : []),
    own.length === 0 ? "    headers=headers,\n" : `    headers={\n        **headers,\n${own.join("")}    },\n`,
    `)\n${PYTHON_ENDS[shows]}`,
  ].join("");
}

function pythonForm({ texts, files }: Exclude<CodeBody, { readonly json: unknown }>): string {
  const head = (name: string): string => `--{boundary}\\r\\nContent-Disposition: form-data; name=\\"${name}\\"`;
  const members = [
    ...Object.entries(texts).map(
      ([name, text]) => `    f"${head(name)}\\r\\n\\r\\n".encode(), ${JSON.stringify(text)}.encode(), b"\\r\\n",\n`,
    ),
    ...Object.entries(files).map(
      ([name, file]) =>
        `    f"${head(name)}; filename=\\"${file}\\"\\r\\n\\r\\n".encode(), ` +
        `open(${JSON.stringify(file)}, "rb").read(), b"\\r\\n",\n`,
    ),
  ];
  return `boundary = uuid.uuid4().hex
form = b"".join([
${members.join("")}    f"--{boundary}--\\r\\n".encode(),
])
`;
}

const PYTHON_ENDS: Readonly<Record<CodeRequest["shows"], string>> = {
  data: `with urllib.request.urlopen(request) as response:
    print(json.dumps(json.load(response)["data"], indent=2))
`,
  job: `with urllib.request.urlopen(request) as response:
    status_url = json.load(response)["data"]["status_url"]

with urllib.request.urlopen(urllib.request.Request(status_url, headers=headers)) as response:
    print(json.dumps(json.load(response)["data"], indent=2))
`,
  text: `with urllib.request.urlopen(request) as response:
    for line in response:
        print(line.decode(), end="")
`,
};

/** JSON texts are texts of Python too; the three words are not. */
function pythonLiteral(value: unknown): string {
  const written = (each: unknown, margin: string): string => {
    if (each === null) return "None";
    if (typeof each === "boolean") return each ? "True" : "False";
    if (typeof each !== "object") return JSON.stringify(each);
    const inner = `${margin}    `;
    if (Array.isArray(each)) {
      return each.length === 0
        ? "[]"
        : `[\n${each.map((member) => `${inner}${written(member, inner)},\n`).join("")}${margin}]`;
    }
    const lines = Object.entries(each).map(
      ([name, member]) => `${inner}${JSON.stringify(name)}: ${written(member, inner)},\n`,
    );
    return `{\n${lines.join("")}${margin}}`;
  };
  return written(value, "");
}

function indented(text: string, margin: string): string {
  return text.replaceAll("\n", `\n${margin}`);
}
