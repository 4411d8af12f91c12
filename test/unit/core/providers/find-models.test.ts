import { expect } from "chai";
import { NodeDigest } from "../../../../adapters/crypto/digest.js";
import { InvalidRequestError } from "../../../../core/errors.js";
import type { ProviderModel } from "../../../../core/ports/music-provider.js";
import { FindModels, type ModelFilter } from "../../../../core/providers/find-models.js";
import type { ListedModel } from "../../../../core/providers/list-models.js";
import { priceBounds } from "../../../../core/providers/prices.js";

const MODEL = {
  name: "M",
  creditCost: 10,
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: { minSeconds: 5, maxSeconds: 60, defaultSeconds: 30 },
};

function listed(id: string, given: Partial<ProviderModel> = {}, others: Partial<ListedModel> = {}): ListedModel {
  const [providerId = ""] = id.split("/");
  const model = { ...MODEL, ...given, id, providerId, providerLabel: providerId };
  const modes = others.modes ?? [];
  return { model, status: "available", modes, price: priceBounds(model, modes), ...others };
}

describe("FindModels", () => {
  const models = [
    listed("lark/song", { creditCost: 20, supportsInstrumental: false }),
    listed("lark/beat", { creditCost: 5, supportsLyrics: false, duration: null }, { status: "unavailable" }),
    listed(
      "wren/any",
      { references: { cover: { sources: "any", creditCost: 2 }, extend: { sources: "own" } } },
      { modes: ["extend", "cover"] },
    ),
  ];
  const open = (all: readonly ListedModel[]): FindModels =>
    new FindModels({ models: { current: () => Promise.resolve([...all]) }, digest: new NodeDigest() });
  const ids = async (filter: ModelFilter): Promise<string[]> =>
    (await open(models).page(filter, {})).items.map(({ model }) => model.id);

  for (const [filter, found] of [
    [{}, ["lark/song", "lark/beat", "wren/any"]],
    [{ provider: "lark" }, ["lark/song", "lark/beat"]],
    [{ status: "unavailable" }, ["lark/beat"]],
    [{ supportsLyrics: true }, ["lark/song", "wren/any"]],
    [{ supportsLyrics: false }, ["lark/beat"]],
    [{ supportsInstrumental: false }, ["lark/song"]],
    [{ duration: 5 }, ["lark/song", "wren/any"]],
    [{ duration: 60 }, ["lark/song", "wren/any"]],
    [{ duration: 4 }, []],
    [{ duration: 61 }, []],
    [{ reference: "cover" }, ["wren/any"]],
    [{ reference: "inpaint" }, []],
    [{ maxCredits: 10 }, ["lark/beat", "wren/any"]],
    [{ maxCredits: 9 }, ["lark/beat"]],
    [{ maxCredits: 9, reference: "extend" }, []],
    [{ maxCredits: 2, reference: "cover" }, ["wren/any"]],
    [{ provider: "lark", status: "available", duration: 30, maxCredits: 20 }, ["lark/song"]],
  ] as const) {
    it(`${JSON.stringify(filter)} finds ${found.join(", ") || "nothing"}`, async () => {
      expect(await ids(filter)).to.deep.equal(found);
    });
  }

  it("refuses values that there are not, and names those allowed", async () => {
    const filter = { provider: "Lark", status: "on", reference: "toString" };
    const error: unknown = await open(models)
      .page(filter, {})
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(InvalidRequestError);
    expect((error as InvalidRequestError).details).to.deep.equal({
      issues: [
        { path: "query.provider", message: "must be one of lark, wren" },
        { path: "query.status", message: "must be one of available, unavailable" },
        { path: "query.reference", message: "must be one of extend, cover, inpaint" },
      ],
    });
  });

  it("returns the same page until the models change", async () => {
    let all: readonly ListedModel[] = models;
    const find = new FindModels({ models: { current: () => Promise.resolve(all) }, digest: new NodeDigest() });
    const [page, again, other] = [
      await find.page({}, {}),
      await find.page({ provider: undefined }, { limit: undefined }),
      await find.page({ provider: "lark" }, {}),
    ];
    expect(again).to.equal(page);
    expect(other.items).to.have.length(2);
    all = models.slice(1);
    expect((await find.page({}, {})).items).to.deep.equal(all);
  });

  it("goes on behind a model that fits no longer, and refuses one that is gone", async () => {
    const filter = { status: "available" };
    const { next } = await open(models).page(filter, { limit: 1 });
    const down = models.map((one) => (one.model.id === "lark/song" ? { ...one, status: "unavailable" as const } : one));
    const page = await open(down).page(filter, { limit: 1, cursor: next ?? "" });
    expect(page.items.map(({ model }) => model.id)).to.deep.equal(["wren/any"]);
    expect(page.next).to.equal(null);
    const error: unknown = await open(models.slice(1))
      .page(filter, { cursor: next ?? "" })
      .catch((reason: unknown) => reason);
    expect((error as InvalidRequestError).details.issues[0]).to.deep.equal({
      path: "query.cursor",
      message: "must be of the models as they are now; begin again without it",
    });
  });

  it("bounds the price by that without a track and those of the modes that are offered", () => {
    const references = {
      cover: { sources: "any", creditCost: 2 },
      inpaint: { sources: "any", creditCost: 99 },
    } as const;
    const model = { creditCost: 10, references };
    expect(priceBounds(model, [])).to.deep.equal({ minimum: 10, maximum: 10 });
    expect(priceBounds(model, ["cover"])).to.deep.equal({ minimum: 2, maximum: 10 });
    expect(priceBounds(model, ["cover", "inpaint"])).to.deep.equal({ minimum: 2, maximum: 99 });
    expect(priceBounds(model, ["extend"]), "a mode without a price of its own").to.deep.equal({
      minimum: 10,
      maximum: 10,
    });
  });
});
