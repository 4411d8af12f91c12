import { InvalidModelError, InvalidRequestError, ModelNotFoundError, type RequestIssue } from "../errors.js";
import type { JobRequest } from "../jobs/job.js";
import {
  MODEL_LIMITS,
  type ProviderCapabilities,
  type ProviderModel,
  type SplitCapability,
} from "../ports/music-provider.js";
import { optionIssues } from "./request-options.js";
import type { SourceTaker } from "./sources.js";

/** A model as the catalogue holds it. */
export interface Model extends ProviderModel {
  readonly providerId: string;
  readonly providerLabel: string;
}

/** A provider named in config, started or not. */
export interface CatalogueProvider extends Partial<
  Pick<ProviderCapabilities, "idempotentSubmit" | "lookup" | "lookupSettlesMs" | "cancel" | "callbacks">
> {
  readonly id: string;
  readonly label: string;
  readonly enabled: boolean;
  readonly models: readonly ProviderModel[];
  readonly stemSplit?: SplitCapability | undefined;
  readonly vocalRemoval?: SplitCapability | undefined;
  /** Jobs at the provider at once, in all processes together; null and left out: as many as there are. */
  readonly maxInFlight?: number | null;
  /** Whether it can fetch files from this installation. */
  readonly isReachable: boolean;
}

/** The models of all providers in config, in the order of config. */
export class Catalogue {
  readonly models: readonly Model[];
  private readonly byId: ReadonlyMap<string, Model>;
  private readonly enabledProviders: ReadonlySet<string>;

  constructor(readonly providers: readonly CatalogueProvider[]) {
    this.models = providers.flatMap((provider) =>
      provider.models.map((model) => ({ ...model, providerId: provider.id, providerLabel: provider.label })),
    );
    this.byId = new Map(this.models.map((model) => [model.id, model]));
    this.enabledProviders = new Set(providers.filter((provider) => provider.enabled).map((provider) => provider.id));
  }

  isEnabled(providerId: string): boolean {
    return this.enabledProviders.has(providerId);
  }

  /** null: there is no such model. */
  find(modelId: string): Model | null {
    return this.byId.get(modelId) ?? null;
  }

  /** The provider of a model, which receives tracks to work from. */
  takerOf({ providerId, providerLabel: label }: Model): SourceTaker {
    const isReachable = this.providers.find(({ id }) => id === providerId)?.isReachable ?? false;
    return { id: providerId, label, isReachable };
  }

  /** @throws {ModelNotFoundError} for GET of a model */
  get(modelId: string): Model {
    const model = this.byId.get(modelId);
    if (model === undefined) throw new ModelNotFoundError();
    return model;
  }

  /** @throws {InvalidModelError} for a model named in a body */
  requested(modelId: string): Model {
    const model = this.byId.get(modelId);
    if (model === undefined) throw new InvalidModelError();
    return model;
  }
}

/** What of a request a model may refuse. */
export type BoundedRequest = Pick<JobRequest, "prompt" | "lyrics" | "durationSeconds" | "instrumental" | "options">;

/**
 * Checks a request against what its model can do.
 *
 * @throws {InvalidRequestError} `details.issues` names each field and the model's bounds
 * @see decisions, "Values, units, shapes"
 */
export function checkModelBounds(model: Model, request: BoundedRequest): void {
  const issues: RequestIssue[] = [];
  const issue = (field: string, message: string): void => void issues.push({ path: `body.${field}`, message });
  const { lyrics, durationSeconds } = request;

  const promptMax = Math.min(model.promptMaxLength ?? Infinity, MODEL_LIMITS.promptLength);
  if (isLonger(request.prompt, promptMax)) issue("prompt", `must have at most ${promptMax} characters for ${model.id}`);
  if (lyrics === null && model.requiresLyrics === true && !request.instrumental)
    issue("lyrics", `are required by ${model.id}`);
  if (lyrics !== null && !model.supportsLyrics) issue("lyrics", `are not supported by ${model.id}`);
  if (request.instrumental && !model.supportsInstrumental) issue("instrumental", `must not be true for ${model.id}`);
  const lyricsMax = Math.min(model.lyricsMaxLength ?? Infinity, MODEL_LIMITS.lyricsLength);
  if (lyrics !== null && model.supportsLyrics && isLonger(lyrics, lyricsMax)) {
    issue("lyrics", `must have at most ${lyricsMax} characters for ${model.id}`);
  }
  if (durationSeconds !== null) {
    if (model.duration === null) issue("duration", `cannot be chosen for ${model.id}`);
    else if (durationSeconds < model.duration.minSeconds || durationSeconds > model.duration.maxSeconds) {
      const { minSeconds, maxSeconds } = model.duration;
      issue("duration", `must be ${minSeconds} to ${maxSeconds} seconds for ${model.id}`);
    }
  }
  issues.push(...optionIssues(model, request.options));
  if (issues.length > 0) throw new InvalidRequestError(issues);
}

/** By code points, of which a text has at most as many as characters of UTF-16. */
function isLonger(text: string, max: number): boolean {
  return text.length > max && [...text].length > max;
}
