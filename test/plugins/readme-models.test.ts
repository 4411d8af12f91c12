import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { BUILT_IN } from "../../config/plugins.js";
import { type ProviderModel, REFERENCE_MODES } from "../../core/ports/music-provider.js";

/** What the port assumes of a model that says nothing. */
const PROMPT_MAX_LENGTH = 3_000;

/** A row of a table of models: cells by their header, in lower case and without what follows a comma. */
interface Row {
  readonly ids: readonly string[];
  readonly cells: ReadonlyMap<string, string>;
}

/** The tables of a README whose first cells name models of the plugin. */
function modelRows(markdown: string, plugin: string): Row[] {
  const tables = markdown.split(/\n(?!\|)/).map((block) => block.split("\n").filter((line) => line.startsWith("|")));
  return tables.flatMap(([header, , ...lines]) => {
    if (header === undefined) return [];
    const names = cellsOf(header).map((name) => (name.split(",")[0] ?? "").trim().toLowerCase());
    return lines.flatMap((line) => {
      const cells = cellsOf(line);
      const ids = quoted(cells[0] ?? "").filter((id) => id.startsWith(`${plugin}/`));
      return ids.length === 0 ? [] : [{ ids, cells: new Map(names.map((name, index) => [name, cells[index] ?? ""])) }];
    });
  });
}

function cellsOf(line: string): string[] {
  const cells = line.split("|").slice(1, -1);
  return cells.map((cell) => cell.trim());
}

/** What stands in backticks. */
function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
}

/** `1,000` is one number; numbers in backticks belong to names. */
function numbersIn(cell: string): number[] {
  const [clause = ""] = cell.replace(/`[^`]*`/g, "").split(/[;:]/);
  return [...clause.matchAll(/\d[\d,]*(?:\.\d+)?/g)].map(([text]) => Number(text.replaceAll(",", "")));
}

/** Of a cell for several models the value of one: a value for each, or one for all. */
function ofOne<T>(values: readonly T[], row: Row, index: number): T | undefined {
  return values.length === row.ids.length ? values[index] : values[0];
}

/** What a cell says that the definition does not; null when both agree, or nothing can be compared. */
type Check = (cell: string, model: ProviderModel, row: Row, index: number) => string | null;

const expected = (message: unknown, is: unknown): string | null =>
  message === is ? null : `says ${String(message)}, is ${String(is)}`;

const credits: Check = (cell, { creditCost }, row, index) => expected(ofOne(numbersIn(cell), row, index), creditCost);

const upstream: Check = (cell, model, row, index) => {
  const message = ofOne(quoted(cell), row, index) ?? "";
  const is = model.upstream ?? "";
  // `/v2.5` stands for another ending of the name before it; a version may follow a name.
  const agrees = message.startsWith("/") ? is.endsWith(message) : is === message || is.startsWith(`${message}:`);
  return agrees && message !== "" ? null : `says ${message}, is ${is}`;
};

const seconds: Check = (cell, { duration }) => {
  if (duration === null) return /\bdefault\b|\d to \d/.test(cell) ? `says ${cell}, and takes none` : null;
  const { minSeconds, maxSeconds, defaultSeconds } = duration;
  return expected(cell, `${minSeconds} to ${maxSeconds}, default ${defaultSeconds}`);
};

const lyrics: Check = (cell, { supportsLyrics, requiresLyrics = false, lyricsMaxLength }) => {
  if (!supportsLyrics) return expected(/^no\b/.test(cell), true);
  if (/^no\b/.test(cell)) return "says no lyrics";
  return expected(/^needed\b/.test(cell), requiresLyrics) ?? expected(numbersIn(cell).at(-1), lyricsMaxLength);
};

const prompt: Check = (cell, { promptMaxLength = PROMPT_MAX_LENGTH }) =>
  expected(numbersIn(cell).at(-1), promptMaxLength);

const instrumental: Check = (cell, { supportsInstrumental }) => expected(!/^no\b/.test(cell), supportsInstrumental);

const costs: Check = (cell, { upstreamCost }) => expected(numbersIn(cell)[0], upstreamCost?.amount);

const CHECKS: Readonly<Record<string, Check>> = {
  credits,
  cost: credits,
  upstream,
  there: upstream,
  seconds,
  length: seconds,
  lyrics,
  prompt,
  instrumental,
  "costs there": costs,
};

describe("the table of models in the README of a plugin", () => {
  for (const [plugin, load] of Object.entries(BUILT_IN)) {
    it(`says of ${plugin} what its definition says`, async () => {
      const { models } = (await load()).default;
      const rows = modelRows(await readFile(`plugins/${plugin}/README.md`, "utf8"), plugin);
      expect(
        rows.flatMap(({ ids }) => ids),
        "models, in their order",
      ).to.deep.equal(models.map(({ id }) => id));
      const wrong = rows.flatMap((row) =>
        row.ids.flatMap((id, index) => {
          const model = models.find((candidate) => candidate.id === id);
          if (model === undefined) throw new Error(`there is no model ${id}`);
          return [...row.cells].flatMap(([name, cell]) => {
            const what = CHECKS[name]?.(cell, model, row, index) ?? null;
            return what === null ? [] : [`${id}, ${name}: ${what}`];
          });
        }),
      );
      expect(wrong).to.deep.equal([]);
      const named = new Set(rows.flatMap(({ cells }) => [...cells.keys()]));
      const hasCredits = models.length === 0 || [...named].some((name) => CHECKS[name] === credits);
      expect(hasCredits, "a column of credits").to.equal(true);
    });
  }
});

describe("the table of plugins", () => {
  it("names the modes in which the models of each plugin work from a track", async () => {
    const rows = (await readFile("plugins/README.md", "utf8")).split("\n").filter((line) => /^\| \[`/.test(line));
    const message = rows.map((row) => {
      const [name = "", , modes = ""] = cellsOf(row);
      return [quoted(name)[0], quoted(modes)];
    });
    const are = await Promise.all(
      Object.entries(BUILT_IN).map(async ([plugin, load]) => {
        const { models } = (await load()).default;
        const modes = new Set(models.flatMap(({ references = {} }) => Object.keys(references)));
        return [plugin, REFERENCE_MODES.filter((mode) => modes.has(mode))];
      }),
    );
    expect(message).to.deep.equal(are);
  });
});
