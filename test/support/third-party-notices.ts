import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryPath } from "./repository.js";

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  /** Of a package that replaces another. */
  readonly name?: string;
}

interface Manifest {
  readonly license?: string;
  readonly author?: string | { readonly name?: string };
  readonly repository?: string | { readonly url?: string };
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly source: string;
  readonly text: string;
}

const WASM_DECODERS = "<https://github.com/eshaz/wasm-audio-decoders>";
const WASM_ENCODERS = "<https://github.com/arseneyr/wasm-media-encoders>";
const OPUS_AUTHORS =
  "Xiph.Org, Skype Limited, Octasic, Jean-Marc Valin, Timothy B. Terriberry, CSIRO, Gregory Maxwell, " +
  "Mark Borgerding, Erik de Castro Lopo, Mozilla, Amazon";

/**
 * What the packages were compiled from or contain, which none of their manifests declares: component, package, licence,
 * source.
 */
export const INCLUDED: readonly (readonly [string, string, string, string])[] = [
  [
    "codec-parser, © Ethan Halsall",
    "the package `codec-parser`",
    "[LGPL-3.0-or-later](licenses/LGPL-3.0.txt), with [GPL-3.0](licenses/GPL-3.0.txt)",
    "the package itself (`src/`); <https://github.com/eshaz/codec-parser>",
  ],
  [
    "libmpg123, © Michael Hipp and the mpg123 project",
    "`mpg123-decoder`, as WebAssembly",
    "[LGPL-2.1](licenses/LGPL-2.1.txt)",
    `${WASM_DECODERS} (with its submodule \`modules/mpg123\` and the build); <https://www.mpg123.de>`,
  ],
  [
    "LAME, © Mike Cheng and the LAME project",
    "`wasm-media-encoders` (`wasm/mp3.wasm`)",
    "[LGPL-2.0-or-later](licenses/LGPL-2.0.txt)",
    `${WASM_ENCODERS} (with its submodule <https://github.com/arseneyr/lame>); <https://lame.sourceforge.io>`,
  ],
  [
    "libFLAC, © Josh Coalson and Xiph.Org Foundation",
    "`@wasm-audio-decoders/flac`, `libflacjs` (`dist/*.wasm`), as WebAssembly",
    "BSD-3-Clause",
    `${WASM_DECODERS}, <https://github.com/mmig/libflac.js>; <https://github.com/xiph/flac>`,
  ],
  [
    "libogg and libvorbis, © Xiph.Org Foundation",
    "`@wasm-audio-decoders/ogg-vorbis`, `wasm-media-encoders`, as WebAssembly; libogg also in `libflacjs`",
    "BSD-3-Clause",
    `${WASM_DECODERS}, ${WASM_ENCODERS}; <https://github.com/xiph/vorbis>`,
  ],
  [
    `libopus, © ${OPUS_AUTHORS}`,
    "`opus-decoder`, `@wasm-audio-decoders/opus-ml`, as WebAssembly",
    "BSD-3-Clause",
    `${WASM_DECODERS}; <https://github.com/xiph/opus>`,
  ],
  ["SQLite", "`better-sqlite3`", "public domain", "<https://sqlite.org>"],
];

const INTRODUCTION = `Fermata is under the Apache License 2.0 ([LICENSE](../LICENSE)). It uses the packages below as
they are published, each from its own folder in \`node_modules\`: none is merged into Fermata's
code, and each may be exchanged for a modified version. Exceptions are bundles: the pages of \`adapters/web\` with
preact, @preact/signals, uplot and openapi-fetch, the client of \`adapters/client\` with openapi-fetch and
eventsource-parser (all MIT), the SDK of the Model Context Protocol in \`adapters/mcp\`, and in the
command of a checkout, once it is built, inversify with what it needs (MIT; the licences of a bundle are in
\`licences.txt\` next to it). How to replace the audio decoders, or to
do without: [adapters/README.md](../adapters/README.md). This file is created by \`npm run notices\`; a test
compares it with what is installed.`;

const BSD_3_CLAUSE = `Redistribution and use in source and binary forms, with or without modification, are permitted
provided that the following conditions are met:

- Redistributions of source code must retain the above copyright notice, this list of conditions and the following
  disclaimer.
- Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following
  disclaimer in the documentation and/or other materials provided with the distribution.
- Neither the name of the Xiph.org Foundation nor the names of its contributors may be used to endorse or promote
  products derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES,
INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE FOUNDATION OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL,
EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS
OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT,
STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN
IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`;

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO
EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR
THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Packages that are bundled into ours. */
const BUNDLED: readonly string[] = [
  ...["preact", "@preact/signals", "@preact/signals-core", "uplot", "openapi-fetch", "eventsource-parser"],
  ...["@modelcontextprotocol/core", "@modelcontextprotocol/server"],
];

/** For packages that lack the text of their declared licence. */
const TEXTS: Readonly<Record<string, (author: string) => string>> = {
  MIT: (author) => `Copyright ${author}\n\n${MIT}`,
  ISC: (author) => `The ISC License, as the package declares it.${author === "" ? "" : ` Copyright ${author}`}`,
  "Apache-2.0": () => readFileSync(repositoryPath("LICENSE"), "utf8"),
};

/**
 * The notices of everything that is installed for production, or copied into the package, in Markdown: from
 * package-lock.json, with the texts in node_modules.
 */
export function thirdPartyNotices(): string {
  const packages = productionPackages();
  const rows = packages.map(({ name, version, licence, source }) => [name, version, licence, source]);
  const byText = new Map<string, string[]>();
  for (const { name, version, text } of packages) byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`]);
  const texts = [...byText].map(([text, names]) => `### ${names.join(", ")}\n\n${fenced(text)}`);
  return (
    [
      "# Third-party notices",
      INTRODUCTION,
      "## What packages contain, LGPL parts first",
      tableOf(["Part", "Contained in", "Licence", "Source"], INCLUDED),
      "For the parts under BSD-3-Clause:",
      fenced(BSD_3_CLAUSE),
      "## Packages",
      tableOf(["Package", "Version", "Licence", "Source"], rows),
      "## Licence texts",
      ...texts,
      "",
    ]
      .join("\n\n")
      .trimEnd() + "\n"
  );
}

/** What is installed for production, or copied into the package, by package-lock.json. */
export function productionPackages(): Package[] {
  const lock = JSON.parse(readFileSync(repositoryPath("package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const found = new Map<string, Package>();
  for (const [path, { dev, version, name }] of Object.entries(lock.packages)) {
    const own = name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    if (path === "" || (dev === true && !BUNDLED.includes(own))) continue;
    found.set(`${own}@${version}`, packageIn(repositoryPath(path), own, version));
  }
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

function packageIn(folder: string, name: string, version: string): Package {
  if (!existsSync(folder)) throw new Error(`${name} ${version} is not installed: run npm ci`);
  const {
    license = "",
    author,
    repository,
  } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const files = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)([.-]|$)/i.test(file))
    .sort();
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8"));
  const authorName = typeof author === "string" ? author : (author?.name ?? "");
  const text = texts.length > 0 ? texts.join("\n") : TEXTS[license]?.(authorName);
  if (text === undefined) throw new Error(`${name} ${version} has no text of its licence ${JSON.stringify(license)}`);
  return { name, version, licence: license, source: sourceOf(repository, name), text: tidy(text) };
}

function sourceOf(repository: Manifest["repository"], name: string): string {
  const url = typeof repository === "string" ? repository : (repository?.url ?? "");
  const [, path] =
    /github\.com[/:]([^/]+\/[^/#]+?)(\.git)?([#/]|$)/.exec(url) ?? /^(?:github:)?([\w.-]+\/[\w.-]+)()$/.exec(url) ?? [];
  return path === undefined ? `<https://www.npmjs.com/package/${name}>` : `<https://github.com/${path}>`;
}

function tidy(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[ \t\f]+$/gm, "")
    .trim();
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lineOf = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [lineOf(head), lineOf(head.map(() => "---")), ...rows.map(lineOf)].join("\n");
}

function fenced(text: string): string {
  const fence = text.includes("```") ? "~~~~" : "```";
  return `${fence}text\n${text}\n${fence}`;
}
