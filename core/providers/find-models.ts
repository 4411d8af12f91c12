import { InvalidRequestError, type RequestIssue } from "../errors.js";
import { ListCursors, type PositionForm, wrongCursor } from "../lists/cursors.js";
import { firstOf, type PageRequest } from "../lists/pages.js";
import type { Digest } from "../ports/digest.js";
import type { ListPage } from "../ports/list-page.js";
import { REFERENCE_MODES, type ReferenceMode } from "../ports/music-provider.js";
import type { ListedModel, ListModels } from "./list-models.js";
import { priceOf } from "./prices.js";

/** What models have to be, all of it; what is undefined does not matter. */
export interface ModelFilter {
  /** The id of their provider. */
  readonly provider?: string | undefined;
  readonly status?: string | undefined;
  readonly supportsLyrics?: boolean | undefined;
  readonly supportsInstrumental?: boolean | undefined;
  /** Seconds that they can be asked for. */
  readonly duration?: number | undefined;
  /** A mode in which they work from a track. */
  readonly reference?: string | undefined;
  /** The most that one generation may cost, in the mode of `reference` where one is asked for. */
  readonly maxCredits?: number | undefined;
}

export const MODEL_STATUSES: readonly ListedModel["status"][] = ["available", "unavailable"];

/** Pages that are kept; callers choose the filters. */
const PAGES_MAX = 100;

export interface FindModelsDeps {
  readonly models: Pick<ListModels, "current">;
  readonly digest: Pick<Digest, "sha256">;
}

const MODEL_ID: PositionForm<string> = {
  toParts: (id) => [id],
  fromParts: ([id]) => (typeof id === "string" ? id : null),
};

/** The catalogue as callers search it. */
export class FindModels {
  private readonly cursors: ListCursors<string>;
  /** Of the models as they were last. */
  private pages = new Map<string, ListPage<ListedModel, string>>();
  private pagesOf: readonly ListedModel[] = [];

  constructor(private readonly deps: FindModelsDeps) {
    this.cursors = new ListCursors(deps.digest, "models", MODEL_ID);
  }

  /**
   * The models that fit, in the order of config. The same page for as long as it is asked for now and then, and no
   * model changes.
   *
   * @throws {InvalidRequestError} a provider, status or mode that there is not; a cursor of other filters, or of models
   * as they were before a change of config
   */
  async page(filter: ModelFilter, request: PageRequest): Promise<ListPage<ListedModel, string>> {
    const all = await this.deps.models.current();
    if (all !== this.pagesOf || this.pages.size >= PAGES_MAX) this.pages = new Map();
    this.pagesOf = all;
    const key = JSON.stringify([filter, request]);
    let page = this.pages.get(key);
    if (page === undefined) this.pages.set(key, (page = this.find(all, filter, request)));
    return page;
  }

  private find(
    all: readonly ListedModel[],
    filter: ModelFilter,
    { limit = Infinity, cursor }: PageRequest,
  ): ListPage<ListedModel, string> {
    const issues = issuesOf(filter, [...new Set(all.map(({ model }) => model.providerId))]);
    if (issues.length > 0) throw new InvalidRequestError(issues);
    const scope = { accountId: null, filters: { ...filter } };
    const last = this.cursors.read(cursor, scope);
    const index = all.findIndex(({ model }) => model.id === last);
    if (last !== null && index < 0) throw wrongCursor("must be of the models as they are now; begin again without it");
    const { items, next } = firstOf(
      all.slice(index + 1).filter((listed) => fits(listed, filter)),
      limit,
    );
    return { items, next: this.cursors.write(next?.model.id ?? null, scope) };
  }
}

function issuesOf({ provider, status, reference }: ModelFilter, providers: readonly string[]): RequestIssue[] {
  const allowed = { provider: providers, status: MODEL_STATUSES, reference: REFERENCE_MODES };
  return Object.entries({ provider, status, reference }).flatMap(([name, value]) => {
    const values: readonly string[] = allowed[name as keyof typeof allowed];
    if (value === undefined || values.includes(value)) return [];
    return [{ path: `query.${name}`, message: `must be one of ${values.join(", ")}` }];
  });
}

function fits({ model, status, modes }: ListedModel, filter: ModelFilter): boolean {
  const { provider, duration, maxCredits } = filter;
  const mode = (filter.reference ?? null) as ReferenceMode | null;
  const { duration: bounds } = model;
  const isMade = bounds !== null && duration !== undefined && isWithin(duration, bounds.minSeconds, bounds.maxSeconds);
  return (
    (provider === undefined || model.providerId === provider) &&
    (filter.status === undefined || status === filter.status) &&
    (filter.supportsLyrics === undefined || model.supportsLyrics === filter.supportsLyrics) &&
    (filter.supportsInstrumental === undefined || model.supportsInstrumental === filter.supportsInstrumental) &&
    (duration === undefined || isMade) &&
    (mode === null || modes.includes(mode)) &&
    (maxCredits === undefined || priceOf(model, mode) <= maxCredits)
  );
}

function isWithin(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
