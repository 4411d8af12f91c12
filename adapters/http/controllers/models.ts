import { Get, Middlewares, Path, Route, Security, Tags } from "@tsoa/runtime";
import { conditional } from "../middleware/conditional.js";
import type { HttpDeps } from "../deps.js";
import { type Model, presentModel } from "../presenters/model.js";

@Route("api/v1/models")
@Tags("Models")
export class ModelsController {
  constructor(private readonly deps: Pick<HttpDeps, "models">) {}

  /**
   * All generation models with their credit costs.
   * @summary List models
   */
  @Get()
  @Security("bearer", ["models:read"])
  @Middlewares(conditional)
  async listModels(): Promise<{ data: { models: Model[] } }> {
    return { data: { models: (await this.deps.models.list()).map(presentModel) } };
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
