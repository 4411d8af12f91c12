import { Body, Header, Middlewares, Path, Post, Route, Security, SuccessResponse, Tags } from "@tsoa/runtime";
import { generationInput, type GenerationRequest } from "../../create-generation.js";
import type { HttpDeps } from "../../deps.js";
import { jsonBody } from "../../middleware/json-body.js";
import { type AdminDeps, adminOf } from "../deps.js";
import { presentStartedJob, type StartedJob } from "./jobs.js";

@Route("admin/v1/accounts/{id}/generations")
@Tags("Library")
export class AdminGenerationsController {
  private readonly admin: AdminDeps;

  constructor(deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Starts a generation for an account, which pays and gets the tracks, by the rules of `POST /api/v1/generations`.
   *
   * Repeated with the same Idempotency-Key and the same body it starts and reserves nothing, and returns the job as it
   * is by then. Keys are those of the account, and last as long as in the public API.
   * @summary Create a generation
   * @param key Makes a retry safe: 1 to 255 printable ASCII characters, new for every generation. Without one every
   * request starts a generation.
   */
  @Post()
  @Security("admin", ["operate"])
  @SuccessResponse(202)
  @Middlewares(jsonBody)
  async createGeneration(
    @Path() id: string,
    @Body() body: GenerationRequest,
    @Header("Idempotency-Key") key?: string,
  ): Promise<{ data: StartedJob }> {
    return { data: presentStartedJob(await this.admin.generations.create(id, generationInput(body), { key })) };
  }
}
