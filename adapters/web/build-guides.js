/**
 * The guides of adapters/http/guides as markup, written to generated/ for the page of the documentation. Their order is
 * that of the links in the README there.
 *
 * A link to another guide becomes an address of the page, and so does `GET /api/v1/…` in code: on GitHub it is only
 * code, since the page is not there. What leads nowhere fails the build.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import MarkdownIt from "markdown-it";

const OPERATION = /^(GET|POST|PATCH|DELETE) (\/\S+)$/;

/**
 * @param folder of the guides
 * @param description the generated description of the API
 * @param to where the modules are written: guides.ts with what the contents need, guide-pages.ts with the markup
 */
export function writeGuides(folder, description, to) {
  const index = readFileSync(join(folder, "README.md"), "utf8");
  const names = [...index.matchAll(/\]\(([a-z-]+)\.md\)/g)].map(([, name]) => name);
  const operations = operationsOf(description);
  const guides = names.map((name) => {
    const markdown = readFileSync(join(folder, `${name}.md`), "utf8");
    return { name, markdown, ...render(name, markdown, new Set(names), operations) };
  });
  const entries = guides.map(({ name, title, summary, markdown }) => ({
    name,
    title,
    summary,
    text: markdown.replaceAll(/\s+/g, " ").toLowerCase(),
  }));
  const pages = Object.fromEntries(guides.map(({ name, markup }) => [name, markup]));
  writeFileSync(
    join(to, "guides.ts"),
    `/** In their order; \`text\` is what a search looks in. */\n` +
      `export const GUIDES: readonly { name: string; title: string; summary: string; text: string }[] = ` +
      `${JSON.stringify(entries, null, 2)};\n`,
  );
  writeFileSync(
    join(to, "guide-pages.ts"),
    `/** Markup by the name of the guide. */\n` +
      `export const GUIDE_PAGES: Readonly<Record<string, string>> = ${JSON.stringify(pages, null, 2)};\n`,
  );
}

/** Ids by `GET /api/v1/…`. */
function operationsOf({ paths }) {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [`${method.toUpperCase()} ${path}`, operationId]),
    ),
  );
}

/** @returns title, first paragraph and the markup of the rest */
function render(name, markdown, names, operations) {
  const md = new MarkdownIt({ html: false });
  const tokens = md.parse(markdown, {});
  const [, title] = tokens;
  if (tokens[0]?.tag !== "h1") throw new Error(`${name}.md does not begin with its title`);
  const summary = tokens.slice(3).find(({ type }) => type === "inline")?.content ?? "";
  tokens.forEach((token, at) => {
    if (token.type === "heading_open") giveId(token, anchorOf(tokens[at + 1].content));
    if (token.type === "tr_open") nameRow(token, tokens[at + 2]);
    for (const [index, child] of (token.children ?? []).entries()) {
      if (child.type === "link_open") child.attrSet("href", linkTo(name, child.attrGet("href"), names));
      if (child.type === "code_inline") child.meta = { isLinked: token.children[index - 1]?.type === "link_open" };
    }
  });
  md.renderer.rules.code_inline = (all, at) => codeOf(name, all[at], operations, md);
  md.renderer.rules.fence = (all, at) =>
    `<div class="code"><button type="button" class="button" data-copy>Copy</button>` +
    `<pre tabindex="0"><code>${md.utils.escapeHtml(all[at].content)}</code></pre></div>\n`;
  return { title: title.content, summary: plain(summary), markup: md.renderer.render(tokens.slice(3), md.options, {}) };
}

/** So that an address can lead to it, and the focus with it. */
function giveId(token, id) {
  token.attrSet("id", id);
  token.attrSet("tabindex", "-1");
}

/** A row whose first cell is one word of code is named by it: errors. */
function nameRow(row, firstCell) {
  const [, code] = /^`([a-z_]+)`$/.exec(firstCell?.content ?? "") ?? [];
  if (code !== undefined) giveId(row, code);
}

function codeOf(name, token, operations, md) {
  const code = `<code>${md.utils.escapeHtml(token.content)}</code>`;
  if (token.meta?.isLinked || !OPERATION.test(token.content)) return code;
  const id = operations.get(token.content);
  if (id === undefined) throw new Error(`${name}.md: there is no operation ${token.content}`);
  return `<a href="#/operations/${id}">${code}</a>`;
}

function linkTo(name, href, names) {
  if (/^https:/.test(href)) return href;
  const [, guide = name, anchor] = /^(?:([a-z-]+)\.md)?(?:#(.+))?$/.exec(href) ?? [null, ""];
  if (!names.has(guide)) throw new Error(`${name}.md: ${href} is not a guide`);
  return `#/guides/${guide}${anchor === undefined ? "" : `/${anchor}`}`;
}

/** As GitHub names headings. */
function anchorOf(heading) {
  return plain(heading)
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}\- _]/gu, "")
    .replaceAll(" ", "-");
}

function plain(text) {
  return text.replaceAll(/\[([^\]]*)\]\([^)]*\)|[`*]/g, "$1").replaceAll("\n", " ");
}
