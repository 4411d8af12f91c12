import { FermataError } from "../errors.js";
import type { Track } from "../library/track.js";
import {
  type BoundedRequest,
  type Catalogue,
  type CatalogueProvider,
  checkModelBounds,
  type Model,
} from "./catalogue.js";
import type { ProviderAvailability } from "./provider-availability.js";
import { referenceIssues, takesSource } from "./sources.js";
import type { SplitCapability } from "../ports/music-provider.js";
import type { Job, JobKind, JobRequest, SplitKind } from "../jobs/job.js";

const SPLIT_KINDS: readonly SplitKind[] = ["stem_split", "vocal_removal"];

/** One way to get a job done. */
export interface Route {
  readonly providerId: string;
  /** null for a split. */
  readonly servedModelId: string | null;
  /** What the job is called on this route. */
  readonly operation: string;
}

export interface RoutePreferences {
  /** Models to go to, in order, when a model's own provider does not take a job; by model id. */
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
  /** Providers to ask, in order. */
  readonly splits: Readonly<Record<SplitKind, readonly string[]>>;
}

/** What a route is looked for by. */
export type RoutedJob = Pick<Job, "kind" | "modelId"> & {
  /** null: any that the model's own provider takes. */
  readonly request: (BoundedRequest & Partial<Pick<JobRequest, "sourceUse">>) | null;
};

export interface RoutesDeps {
  readonly catalogue: Catalogue;
  readonly preferences: RoutePreferences;
}

/** Who may do a job, in which order. The same for the same job as long as config and the track are. */
export class Routes {
  constructor(private readonly deps: RoutesDeps) {}

  /**
   * The routes of providers that are on, the preferred one first.
   *
   * @param source the track to split, or to work from; null for a generation from none, or when it is gone: then
   *   there is no route for a split, and only that of the model itself for a generation
   */
  routesOf(job: RoutedJob, source: Track | null): readonly Route[] {
    if (job.kind === "music") return this.modelsFor(job, source).map(musicRoute);
    const { kind } = job;
    if (source === null) return [];
    return this.splitters(kind)
      .filter((provider) => canSplit(provider, kind, source))
      .map(({ id }) => ({ providerId: id, servedModelId: null, operation: kind }));
  }

  /** Those after the job's present one. */
  routesAfter(job: RoutedJob & Pick<Job, "providerId" | "servedModelId">, source: Track | null): readonly Route[] {
    const routes = this.routesOf(job, source);
    const at = routes.findIndex(
      ({ providerId, servedModelId }) => providerId === job.providerId && servedModelId === job.servedModelId,
    );
    return routes.slice(at + 1);
  }

  /** Whether any job of this provider may go to another. */
  hasFallbacks(providerId: string): boolean {
    const splits = SPLIT_KINDS.map((kind) => this.splitters(kind).map(({ id }) => id));
    const chains = Object.keys(this.deps.preferences.fallbacks).map((modelId) =>
      this.modelsFor({ modelId, request: null }, null).map((model) => model.providerId),
    );
    return [...splits, ...chains].some((ids) => ids.includes(providerId) && ids.some((id) => id !== providerId));
  }

  private modelsFor({ modelId, request }: Pick<RoutedJob, "modelId" | "request">, source: Track | null): Model[] {
    const fallbacks = (this.deps.preferences.fallbacks[modelId] ?? []).flatMap(
      (id) => this.deps.catalogue.find(id) ?? [],
    );
    const own = this.deps.catalogue.find(modelId);
    const fitting = fallbacks.filter(
      (model) => request === null || (fits(model, request) && this.worksFrom(model, request, source)),
    );
    return [...(own === null ? [] : [own]), ...fitting].filter(({ providerId }) =>
      this.deps.catalogue.isEnabled(providerId),
    );
  }

  /** Whether a model can do with the source what the request wants of it. */
  private worksFrom(
    model: Model,
    { sourceUse = null }: NonNullable<RoutedJob["request"]>,
    source: Track | null,
  ): boolean {
    if (sourceUse === null) return true;
    return (
      source !== null && referenceIssues(model, this.deps.catalogue.takerOf(model), sourceUse, source).length === 0
    );
  }

  private splitters(kind: SplitKind): readonly CatalogueProvider[] {
    const byId = new Map(this.deps.catalogue.providers.map((provider) => [provider.id, provider]));
    return this.deps.preferences.splits[kind].flatMap((id) => {
      const provider = byId.get(id);
      return provider !== undefined && provider.enabled && capabilityOf(provider, kind) !== undefined ? [provider] : [];
    });
  }
}

export function capabilityOf(
  provider: Pick<CatalogueProvider, "stemSplit" | "vocalRemoval">,
  kind: SplitKind,
): SplitCapability | undefined {
  return kind === "stem_split" ? provider.stemSplit : provider.vocalRemoval;
}

function canSplit(provider: CatalogueProvider, kind: SplitKind, track: Track): boolean {
  const capability = capabilityOf(provider, kind);
  return capability !== undefined && takesSource(capability, provider, track);
}

function musicRoute({ id, providerId }: Model): Route {
  return { providerId, servedModelId: id, operation: operationOf("music", providerId) };
}

/** @see decisions, "Values, units, shapes" (Operation) */
export function operationOf(kind: JobKind, providerId: string): string {
  return kind === "music" ? `music_${providerId}_full` : kind;
}

function fits(model: Model, request: NonNullable<RoutedJob["request"]>): boolean {
  try {
    checkModelBounds(model, request);
    return true;
  } catch (error) {
    if (FermataError.is(error)) return false;
    throw error;
  }
}

/** The first route that is available; null when all are known to be down. */
export async function firstOpenRoute(
  routes: readonly Route[],
  availability: Pick<ProviderAvailability, "isOffered">,
): Promise<Route | null> {
  for (const route of routes) {
    if (await availability.isOffered(route)) return route;
  }
  return null;
}

/** The routes that are available, in their order. */
export async function openRoutes(
  routes: readonly Route[],
  availability: Pick<ProviderAvailability, "isOffered">,
): Promise<readonly Route[]> {
  const offered = await Promise.all(routes.map((route) => availability.isOffered(route)));
  return routes.filter((_, index) => offered[index]);
}
