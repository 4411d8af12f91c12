import { Get, Middlewares, Path, Query, Route, Security, Tags } from "@tsoa/runtime";
import { conditional, TaggedBody } from "../middleware/conditional.js";
import type { HttpDeps } from "../deps.js";
import { type Model, presentModel } from "../presenters/model.js";

@Route("api/v1/models")
@Tags("Models")
export class ModelsController {
  /** The bodies of pages: a page is the same for all accounts until a model changes. */
  private readonly bodies = new WeakMap<object, TaggedBody>();

  constructor(private readonly deps: Pick<HttpDeps, "models" | "findModels">) {}

  /**
   * Generation models with their credit costs, all of them where there is no filter. Filters combine; a value that is
   * none of those allowed is refused, and the error names them. `next_cursor` is null where nothing follows.
   * @summary List models
   * @param provider The id of their provider, with which their own ids begin.
   * @param status Whether they can be asked for at the moment.
   * @param supports_lyrics Whether they sing lyrics.
   * @param supports_instrumental Whether they make music without a voice.
   * @param duration Seconds that they can be asked to make.
   * @isInt duration must be an integer
   * @minimum duration 1 must be at least 1
   * @param reference What they can do with a track.
   * @param max_credits The most credits that a generation may cost: in the mode of `reference` where one is given,
   *   otherwise without a track.
   * @isInt max_credits must be an integer
   * @minimum max_credits 0 must be at least 0
   * @param limit Most models to return, 1 to 100; all by default.
   * @isInt limit must be an integer
   * @minimum limit 1 must be 1 to 100
   * @maximum limit 100 must be 1 to 100
   * @param cursor `next_cursor` of the page before; it holds for the same filters alone.
   */
  @Get()
  @Security("bearer", ["models:read"])
  @Middlewares(conditional)
  async listModels(
    @Query() provider?: string,
    @Query() status?: string,
    @Query() supports_lyrics?: boolean,
    @Query() supports_instrumental?: boolean,
    @Query() duration?: number,
    @Query() reference?: string,
    @Query() max_credits?: number,
    @Query() limit?: number,
    @Query() cursor?: string,
  ): Promise<{ data: { models: Model[]; next_cursor: string | null } }> {
    const filter = {
      provider,
      status,
      supportsLyrics: supports_lyrics,
      supportsInstrumental: supports_instrumental,
      duration,
      reference,
      maxCredits: max_credits,
    };
    const page = await this.deps.findModels.page(filter, { limit, cursor });
    let body = this.bodies.get(page);
    if (body === undefined) {
      body = new TaggedBody({ data: { models: page.items.map(presentModel), next_cursor: page.next } });
      this.bodies.set(page, body);
    }
    // What sends the response takes its text: it is what the type says.
    return body as unknown as { data: { models: Model[]; next_cursor: string | null } };
  }

  /**
   * One generation model.
   * @summary One model
   * @param model_id The model's id; a slash in it is sent as `%2F`.
   */
  @Get("{model_id}")
  @Security("bearer", ["models:read"])
  @Middlewares(conditional)
  async getModel(@Path() model_id: string): Promise<{ data: Model }> {
    return { data: presentModel(await this.deps.models.get(model_id)) };
  }
}
