export const LANGUAGES = ["curl", "JavaScript", "Python"] as const;
export type Language = (typeof LANGUAGES)[number];

/** A request with an API key. */
export interface CodeRequest {
  readonly method: string;
  /** Of the whole address, with its query. */
  readonly url: string;
  /** In addition to those of the key and of the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: CodeBody;
  /**
   * What is done with the response: its data is shown; or what is at the `status_url` in it, for a job; or its text as
   * it arrives.
   */
  readonly shows: "data" | "job" | "text";
}

/** JSON; or a form, with the names of files that are sent. */
export type CodeBody =
  | { readonly json: unknown }
  | { readonly texts: Readonly<Record<string, string>>; readonly files: Readonly<Record<string, string>> };

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

function curlOf({ method, url, headers, body, shows }: CodeRequest): string {
  const sends = body === undefined ? "GET" : "POST";
  const options = [
    `curl ${shows === "text" ? "-sSN" : "-sS"} ${method === sends ? "" : `-X ${method} `}${quoted(url)}`,
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

function javascriptOf(request: CodeRequest): string {
  const { method, url, headers, body, shows } = request;
  const isJson = body !== undefined && "json" in body;
  const own = { ...(isJson ? { "Content-Type": "application/json" } : {}), ...headers };
  const ownLines = Object.entries(own).map(
    ([name, value]) => `    ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${JSON.stringify(value)},\n`,
  );
  const init = [
    ...(method === "GET" ? [] : [`  method: ${JSON.stringify(method)},\n`]),
    ownLines.length === 0 ? "  headers,\n" : `  headers: {\n    ...headers,\n${ownLines.join("")}  },\n`,
    ...(isJson ? [`  body: JSON.stringify(${indented(JSON.stringify(body.json, null, 2), "  ")}),\n`] : []),
    ...(body !== undefined && !isJson ? ["  body,\n"] : []),
  ];
  return [
    ...(body !== undefined && !isJson && Object.keys(body.files).length > 0
      ? [`import { openAsBlob } from "node:fs";\n\n`]
      : []),
    "const headers = { Authorization: `Bearer ${process.env.FERMATA_API_KEY}` };\n",
    ...(body !== undefined && !isJson ? [javascriptForm(body)] : []),
    isCharged(request) ? `\n// ${KEY_COMMENT}\n` : "\n",
    `const response = await fetch(${JSON.stringify(url)}, {\n${init.join("")}});\n`,
    JAVASCRIPT_ENDS[shows],
  ].join("");
}

function javascriptForm({ texts, files }: Exclude<CodeBody, { readonly json: unknown }>): string {
  return [
    "const body = new FormData();\n",
    ...Object.entries(files).map(
      ([name, file]) =>
        `body.append(${JSON.stringify(name)}, await openAsBlob(${JSON.stringify(file)}), ${JSON.stringify(file)});\n`,
    ),
    ...Object.entries(texts).map(([name, text]) => `body.append(${JSON.stringify(name)}, ${JSON.stringify(text)});\n`),
  ].join("");
}

const JAVASCRIPT_DATA = `const { data, error } = await response.json();
if (error) throw new Error(error.message);
`;

const JAVASCRIPT_ENDS: Readonly<Record<CodeRequest["shows"], string>> = {
  data: `${JAVASCRIPT_DATA}
console.log(JSON.stringify(data, null, 2));
`,
  job: `${JAVASCRIPT_DATA}
const job = await fetch(data.status_url, { headers });
console.log(JSON.stringify((await job.json()).data, null, 2));
`,
  text: `if (!response.ok) throw new Error(await response.text());
for await (const text of response.body.pipeThrough(new TextDecoderStream())) process.stdout.write(text);
`,
};

function pythonOf(request: CodeRequest): string {
  const { method, url, headers, body, shows } = request;
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
    `request = urllib.request.Request(\n    ${JSON.stringify(url)},\n`,
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
