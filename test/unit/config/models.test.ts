import { readFileSync } from "node:fs";
import { expect } from "chai";
import { loadSettings, SettingsError } from "../../../config/load.js";
import { models, withGivenModels } from "../../../config/settings/models.js";
import type { ProviderModel } from "../../../core/ports/music-provider.js";

const SONG: ProviderModel = {
  id: "p/song",
  name: "Song",
  creditCost: 10,
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: null,
};
const BEAT: ProviderModel = { ...SONG, id: "p/beat", upstream: "beat-1" };

const definition = { id: "p", models: [SONG, BEAT] };

/** The lines with which these settings are refused. */
function issuesOf(overrides: object): readonly string[] {
  try {
    loadSettings({ env: {}, cwd: "/srv/app", isTerminal: false, overrides });
  } catch (error) {
    if (error instanceof SettingsError) return error.lines;
    throw error;
  }
  return [];
}

describe("models of config", () => {
  it("change what they name, in its place, and leave the rest as the plugin has it", () => {
    const { models, issues: found } = withGivenModels(definition, [
      { id: "p/song", creditCost: 3, upstream: "song-2", upstreamCost: { amount: 0.1, unit: "USD" } },
    ]);
    expect(found).to.deep.equal([]);
    expect(models).to.deep.equal([
      { ...SONG, creditCost: 3, upstream: "song-2", upstreamCost: { amount: 0.1, unit: "USD" } },
      BEAT,
    ]);
  });

  it("give a render its deadline and its usual time, within the limits", () => {
    const times = { renderDeadlineMinutes: 0.5, usualRenderSeconds: 90 };
    const { models: changed } = withGivenModels(definition, [{ id: "p/song", ...times }]);
    expect(changed).to.deep.equal([{ ...SONG, ...times }, BEAT]);
    const accepts = (given: object): boolean => models.options.schema.safeParse([{ id: "p/song", ...given }]).success;
    expect(accepts(times)).to.equal(true);
    for (const wrong of [
      { renderDeadlineMinutes: 0 },
      { renderDeadlineMinutes: 10_081 },
      { usualRenderSeconds: -1 },
      { usualRenderSeconds: 86_401 },
      { usualRenderSeconds: "90" },
    ])
      expect(accepts(wrong), JSON.stringify(wrong)).to.equal(false);
  });

  it("are given within the bounds that plugins keep, by names that are known", () => {
    const accepts = (given: object): boolean => models.options.schema.safeParse([{ id: "p/song", ...given }]).success;
    expect(
      accepts({ enabled: false, promptMaxLength: 3_000, lyricsMaxLength: 10_000, duration: null, upstream: undefined }),
    ).to.equal(true);
    for (const wrong of [
      { id: "Song" },
      { enabled: "no" },
      { promptMaxLength: 3_001 },
      { lyricsMaxLength: 10_001 },
      { creditCost: -1 },
      { upstreamCost: { amount: 1, unit: "EUR", tax: 1 } },
      { duration: { minSeconds: 1, maxSeconds: 86_401, defaultSeconds: 1 } },
      { promtMaxLength: 10 },
    ])
      expect(accepts(wrong), JSON.stringify(wrong)).to.equal(false);
    expect(models.options.schema.safeParse([{ name: "Without an id" }]).success).to.equal(false);
  });

  it("are refused by the member that is wrong, a line each", () => {
    const wrong = [
      { id: "nightjar/v1", creditCost: 2.5, promtMaxLength: 10 },
      { name: "No id" },
      "nightjar/v2",
      { id: "nightjar/v3", enabled: "no", duration: { minSeconds: 90, maxSeconds: 60, defaultSeconds: 60 } },
      { id: "nightjar/v4", requestOptions: { Seed: false, bpm: 5, mood: { minimum: "1", minimun: 1 } } },
    ];
    const lines = issuesOf({ plugins: { nightjar: { enabled: false, models: wrong } } });
    expect(lines[1]).to.match(
      /^plugins\.nightjar\.models\[0\]\.promtMaxLength \(overrides\): a model has no such member/,
    );
    expect(lines.filter((_, index) => index !== 1)).to.deep.equal([
      "plugins.nightjar.models[0].creditCost (overrides): 2.5; allowed: a whole number of credits",
      "plugins.nightjar.models[1].id (overrides): missing; allowed: the id of a model",
      'plugins.nightjar.models[2] (overrides): "nightjar/v2"; allowed: a model, with its id',
      'plugins.nightjar.models[3].enabled (overrides): "no"; allowed: true, false',
      'plugins.nightjar.models[3].duration (overrides): {"minSeconds":90,"maxSeconds":60,"defaultSeconds":60}; ' +
        "allowed: null, or whole seconds from 1 to 86400 with minSeconds ≤ defaultSeconds ≤ maxSeconds and no other " +
        "member",
      "plugins.nightjar.models[4].requestOptions.Seed (overrides): its name is not in lower snake case; allowed: up " +
        "to 40 letters, digits and _",
      "plugins.nightjar.models[4].requestOptions.bpm (overrides): 5; allowed: false, or an object with the members " +
        "to change",
      'plugins.nightjar.models[4].requestOptions.mood.minimum (overrides): "1"; allowed: a number',
      "plugins.nightjar.models[4].requestOptions.mood.minimun (overrides): an option has no such member; allowed: " +
        "type, description, minimum, maximum, minLength, maxLength, allowed, default",
    ]);
  });

  it("show no secret and no long text where they are refused, and take one line each", () => {
    const given = [{ id: "p/song", name: `mysql://root:hunter2@db/${"x".repeat(1_000)}`, "a\nb": 1 }];
    const [long = "", broken = ""] = issuesOf({ plugins: { p: { models: given } } });
    expect(long).to.match(/^plugins\.p\.models\[0\]\.name \(overrides\): [^ ]{1,90}; allowed: a name/);
    expect(long).to.include("[redacted]@db").and.not.include("hunter2");
    expect(broken).to.include("models[0].a\\u000ab (overrides): ").and.not.include("\n");
  });

  it("are refused as a whole where they are no list, with a heading that the guide has", () => {
    const [line = ""] = issuesOf({ plugins: { p: { models: "p/song" } } });
    expect(line).to.match(
      /^plugins\.p\.models \(overrides\): "p\/song" is not allowed; allowed: a list of models, each /,
    );
    const [, guide = "", heading = ""] = /\((\S+\.md), "(.+)"\)/.exec(line) ?? [];
    expect(readFileSync(guide, "utf8")).to.include(`\n## ${heading}\n`);
  });

  it("leave models out, and add others behind them", () => {
    const { models } = withGivenModels(definition, [
      { id: "p/song", enabled: false },
      { id: "p/new", name: "New", creditCost: 0, options: { mapping: 1 } },
    ]);
    expect(models).to.deep.equal([
      BEAT,
      {
        id: "p/new",
        name: "New",
        creditCost: 0,
        supportsLyrics: false,
        supportsInstrumental: true,
        duration: null,
        options: { mapping: 1 },
      },
    ]);
  });

  it("need a name and a price when the plugin does not know them", () => {
    expect(withGivenModels(definition, [{ id: "p/new", name: "New" }]).issues).to.deep.equal([
      "plugins.p.models: p/new is not one of the plugin's: it needs a `name` and a `creditCost`",
    ]);
  });

  it("are checked as the plugin's own are: durations within bounds, required lyrics are supported", () => {
    const wrong = { minSeconds: 10, maxSeconds: 20, defaultSeconds: 30 };
    expect(withGivenModels(definition, [{ id: "p/song", duration: wrong }]).issues).to.deep.equal([
      'plugins.p: its model "p/song": duration: {"minSeconds":10,"maxSeconds":20,"defaultSeconds":30}; ' +
        "allowed: null, or whole " +
        "seconds from 1 to 86400 with minSeconds ≤ defaultSeconds ≤ maxSeconds and no other member",
    ]);
    expect(
      withGivenModels(definition, [{ id: "p/song", supportsLyrics: false, requiresLyrics: true }]).issues,
    ).to.deep.equal(['plugins.p: its model "p/song": requiresLyrics: true; allowed where supportsLyrics is true']);
    expect(
      withGivenModels(
        {
          id: "p",
          models: [
            { ...SONG, id: "Song" },
            { ...SONG, creditCost: 1.5 },
          ],
        },
        [],
      ).issues,
    ).to.have.length(2);
  });

  it("are checked by the plugin, which knows what its options mean", () => {
    const checkModel = ({ upstream }: ProviderModel): string | null =>
      upstream === undefined ? "needs an `upstream`" : null;
    expect(withGivenModels({ ...definition, checkModel }, []).issues).to.deep.equal([
      'plugins.p: its model "p/song" needs an `upstream`',
    ]);
  });
});
