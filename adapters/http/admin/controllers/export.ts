import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Get, Path, Produces, Request, Route, Security, SuccessResponse, Tags } from "@tsoa/runtime";
import type express from "express";
import { assert } from "../../../../core/assert.js";
import type { ExportedRecord } from "../../../../core/accounts/export-account.js";
import type { HttpDeps } from "../../deps.js";
import { presentExported } from "../../presenters/exported.js";
import { contextOf } from "../../request-context.js";
import { type AdminDeps, adminOf } from "../deps.js";

/** JSON Lines. */
export const EXPORT_TYPE = "application/x-ndjson";

@Route("admin/v1/accounts/{id}/export")
@Tags("Accounts")
export class AdminExportController {
  private readonly admin: AdminDeps;

  constructor(deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Everything that is kept of the account, one JSON document a line: `type` says what each is. The last line is of
   * the type `end`; without it the export was cut off. The bytes of files are not in it.
   * @summary Export an account
   */
  @Get()
  @Security("admin", ["owner"])
  @Produces(EXPORT_TYPE)
  @SuccessResponse(200, "JSON Lines")
  async exportAccount(@Request() request: express.Request, @Path() id: string): Promise<void> {
    const pages = await this.admin.exports.open(id);
    const { res: response } = request;
    assert(response !== undefined, "a request of Express has its response");
    response.setHeader("Content-Type", EXPORT_TYPE);
    response.setHeader("Content-Disposition", `attachment; filename="${id}.jsonl"`);
    try {
      await pipeline(Readable.from(linesOf(pages), { objectMode: false }), response);
    } catch (error) {
      // The client is gone, or what is cut off says so by its end that is missing.
      if (response.destroyed) return;
      const { deps, requestId } = contextOf(request);
      deps.logger.error("An export was interrupted", { request_id: requestId, account_id: id, error });
      response.destroy();
    }
  }
}

async function* linesOf(pages: AsyncIterable<readonly ExportedRecord[]>): AsyncGenerator<Buffer> {
  for await (const page of pages) {
    const lines = page.map((one) => `${JSON.stringify(presentExported(one))}\n`);
    if (lines.length > 0) yield Buffer.from(lines.join(""));
  }
}
