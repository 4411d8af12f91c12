import type { GenerationRequest } from "../api.js";

export const LANGUAGES = ["curl", "JavaScript", "Python"] as const;
export type Language = (typeof LANGUAGES)[number];

export interface CodeParts {
  /** What callers reach the server by, without a slash at its end. */
  readonly publicUrl: string;
  readonly request: GenerationRequest;
  /** An Idempotency-Key. */
  readonly key: string;
}

const WRITERS: Readonly<Record<Language, (parts: CodeParts) => string>> = {
  curl: curlOf,
  JavaScript: javascriptOf,
  Python: pythonOf,
};

/** A request as code that runs as it is, with the API key in the environment variable `FERMATA_API_KEY`. */
export function codeOf(language: Language, parts: CodeParts): string {
  return WRITERS[language](parts);
}

function curlOf({ publicUrl, request, key }: CodeParts): string {
  return [
    `curl -sS ${quoted(`${publicUrl}/api/v1/generations`)}`,
    `-H "Authorization: Bearer $FERMATA_API_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-H 'Idempotency-Key: ${key}'`,
    `-H 'Prefer: wait=60'`,
    `-d ${quoted(JSON.stringify(request, null, 2))}`,
  ].join(" \\\n  ");
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function javascriptOf({ publicUrl, request, key }: CodeParts): string {
  return `const headers = { Authorization: \`Bearer \${process.env.FERMATA_API_KEY}\` };

// The key makes a retry safe: the same request is never charged twice.
const response = await fetch(${JSON.stringify(`${publicUrl}/api/v1/generations`)}, {
  method: "POST",
  headers: {
    ...headers,
    "Content-Type": "application/json",
    "Idempotency-Key": ${JSON.stringify(key)},
    Prefer: "wait=60",
  },
  body: JSON.stringify(${indented(JSON.stringify(request, null, 2), "  ")}),
});
const { data, error } = await response.json();
if (error) throw new Error(error.message);

const generation = await fetch(data.status_url, { headers });
console.log(JSON.stringify((await generation.json()).data, null, 2));
`;
}

function pythonOf({ publicUrl, request, key }: CodeParts): string {
  return `import json, os, urllib.request

headers = {"Authorization": f"Bearer {os.environ['FERMATA_API_KEY']}"}

# The key makes a retry safe: the same request is never charged twice.
request = urllib.request.Request(
    ${JSON.stringify(`${publicUrl}/api/v1/generations`)},
    data=json.dumps(${indented(pythonLiteral(request), "    ")}).encode(),
    headers={
        **headers,
        "Content-Type": "application/json",
        "Idempotency-Key": ${JSON.stringify(key)},
        "Prefer": "wait=60",
    },
)
with urllib.request.urlopen(request) as response:
    status_url = json.load(response)["data"]["status_url"]

with urllib.request.urlopen(urllib.request.Request(status_url, headers=headers)) as response:
    print(json.dumps(json.load(response)["data"], indent=2))
`;
}

/** JSON texts are texts of Python too; the three words are not. */
function pythonLiteral(value: unknown): string {
  const written = (each: unknown, margin: string): string => {
    if (each === null) return "None";
    if (typeof each === "boolean") return each ? "True" : "False";
    if (typeof each !== "object") return JSON.stringify(each);
    const lines = Object.entries(each).map(
      ([name, member]) => `${margin}    ${JSON.stringify(name)}: ${written(member, `${margin}    `)},\n`,
    );
    return `{\n${lines.join("")}${margin}}`;
  };
  return written(value, "");
}

function indented(text: string, margin: string): string {
  return text.replaceAll("\n", `\n${margin}`);
}
