import generatedAdmin from "../../../adapters/http/generated/admin/openapi.json" with { type: "json" };
import generated from "../../../adapters/http/generated/openapi.json" with { type: "json" };
import type { OpenApiDocument } from "../../../adapters/http/openapi/model.js";
import type { ApiResponse } from "../../support/api-client.js";
import { fuzzed } from "../../support/fuzz/fuzz.js";
import { type FuzzRequest, operationsOf, requestsFor } from "../../support/fuzz/requests.js";
import { unacceptable, undocumented } from "../../support/fuzz/responses.js";
import { FuzzWorld } from "../../support/fuzz/world.js";

/** Of every operation, in one run of the long form. */
const REQUESTS = 20_000;
/** Their requests cost a check of the whole machine. */
const SLOW = ["getDoctor"];

const SURFACES = [
  ["public", "The public API", "/openapi.json", operationsOf(generated as unknown as OpenApiDocument)],
  ["admin", "The admin API", "/admin/v1/openapi.json", operationsOf(generatedAdmin as unknown as OpenApiDocument)],
] as const;
const COUNT = SURFACES.reduce((sum, [, , , operations]) => sum + operations.length, 0);

for (const [surface, title, page, operations] of SURFACES) {
  describe(`${title} under generated requests`, function () {
    this.timeout(600_000);
    let world: FuzzWorld;
    let document: OpenApiDocument;
    before(async () => {
      world = await FuzzWorld.open();
      const response: ApiResponse = await (surface === "public" ? world.test.anonymous : world.admin).get(page);
      document = response.json as OpenApiDocument;
    });
    after(() => world.close());

    for (const { method, path, operation } of operations) {
      const { operationId } = operation;
      const isSlow = SLOW.includes(operationId);
      fuzzed(
        `responds to ${method} ${path} as its description says`,
        { short: isSlow ? 1 : 4, long: Math.ceil(REQUESTS / COUNT / (isSlow ? 10 : 1)) },
        () => requestsFor(described(), document),
        async (request: FuzzRequest) => {
          const response = await world.send(request, surface);
          const issues = [...unacceptable(request, response), ...world.leaksIn(response, request.caller, surface)];
          if (request.isRouted) issues.push(...undocumented(described(), document, response));
          issues.push(...world.loggedErrors());
          if (issues.length > 0)
            throw new Error([...issues.slice(0, 5), response.body.toString().slice(0, 600)].join("\n"));
        },
      );
      const described = () => {
        const found = operationsOf(document).find((each) => each.method === method && each.path === path);
        if (found === undefined) throw new Error(`${method} ${path} is not described`);
        return found;
      };
    }

    it("leaves a ledger and an audit log that hold, and no balance below zero", () => world.check());
  });
}
