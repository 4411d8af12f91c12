import {
  Body,
  Get,
  Header,
  Middlewares,
  Path,
  Post,
  Query,
  Request,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from "@tsoa/runtime";
import type express from "express";
import type { JobId } from "../../../core/ids.js";
import { createGeneration, type GenerationRequest } from "../create-generation.js";
import { contextOf } from "../request-context.js";
import { bodyClient } from "../middleware/body-client.js";
import { idempotencyKey } from "../middleware/idempotency-key.js";
import { jsonBody } from "../middleware/json-body.js";
import type { HttpDeps } from "../deps.js";
import type { AcceptedGeneration, Generation } from "../presenters/generation.js";
import { GenerationTexts, pageOfGenerations } from "../presenters/generation-texts.js";
import { PreparedResponse } from "../send.js";

const OK = 200;

@Route("api/v1/generations")
@Tags("Generations")
export class GenerationsController {
  private readonly texts: GenerationTexts;

  constructor(private readonly deps: Pick<HttpDeps, "readGenerations" | "audioUrls" | "shareUrls" | "clock">) {
    this.texts = new GenerationTexts(deps);
  }

  /**
   * Starts a generation and reserves its credits. It runs on by itself: poll `status_url`, or ask with `Prefer` to wait
   * for its end.
   *
   * Repeat a request whose response was lost with the same Idempotency-Key and the same body: it is never carried out
   * twice, and the stored response is sent again with `Idempotent-Replayed: true`.
   * @summary Create generation
   * @param key Makes a retry safe: 1 to 255 printable ASCII characters, new for every generation.
   * @param prefer `wait=N` waits up to N seconds (at most 55, or as the operator set) for the generation to end. When
   * it has completed, the response has its tracks.
   */
  @Post()
  @Security("bearer", ["generations:create"])
  @SuccessResponse(202, "Accepted")
  @Middlewares(jsonBody, bodyClient, idempotencyKey)
  createGeneration(
    @Request() request: express.Request,
    @Body() body: GenerationRequest,
    @Header("Idempotency-Key") key: string,
    @Header("Prefer") prefer?: string,
  ): Promise<{ data: AcceptedGeneration }> {
    return createGeneration(request, body, key, prefer);
  }

  /**
   * The account's generations, newest first. `next_cursor` is null where nothing follows.
   * @summary List recent generations
   * @param limit Most generations to return, 1 to 50; 20 by default.
   * @isInt limit must be an integer
   * @minimum limit 1 must be 1 to 50
   * @maximum limit 50 must be 1 to 50
   * @param cursor `next_cursor` of the page before.
   */
  @Get()
  @Security("bearer", ["generations:read"])
  async listGenerations(
    @Request() request: express.Request,
    @Query() limit?: number,
    @Query() cursor?: string,
  ): Promise<{ data: { generations: Generation[]; next_cursor: string | null } }> {
    const { id } = contextOf(request).account;
    const { items, next } = await this.deps.readGenerations.page(id, { limit, cursor }, this.texts);
    return prepared(pageOfGenerations(items, next));
  }

  /**
   * One generation; its tracks are there once it completed.
   * @summary One generation
   * @param id The generation's id, which is its job's id.
   */
  @Get("{id}")
  @Security("bearer", ["generations:read"])
  async getGeneration(@Request() request: express.Request, @Path() id: string): Promise<{ data: Generation }> {
    const context = contextOf(request);
    const { text } = await this.deps.readGenerations.get(context.account.id, id, this.texts);
    context.jobId = id as JobId;
    return prepared(`{"data":${text}}`);
  }
}

/** @param body JSON of what the operation declares */
function prepared<Data>(body: string | Buffer): { data: Data } {
  return new PreparedResponse(OK, body) as unknown as { data: Data };
}
