import { z } from "zod";
import { charge, type ChargedWork, type ChargingArguments } from "./charge.js";
import { jobResult } from "./generations.js";
import { guarded, type McpHost } from "./host.js";
import { META } from "./results.js";
import { CHARGING, ID, JOB } from "./schemas.js";
import { FermataError } from "./sdk.js";

const REQUEST = z.object({ track_id: ID, ...CHARGING });

interface Split {
  readonly tool: string;
  readonly title: string;
  readonly does: string;
  readonly operation: "stem_split" | "vocal_removal";
  readonly path: "/api/v1/tracks/{id}/stems" | "/api/v1/tracks/{id}/vocal-removal";
}

const SPLITS: readonly Split[] = [
  {
    tool: "split_stems",
    title: "Split a track into stems",
    does: "Separates a track into stems such as vocals, drums and bass.",
    operation: "stem_split",
    path: "/api/v1/tracks/{id}/stems",
  },
  {
    tool: "remove_vocals",
    title: "Remove the vocals of a track",
    does: "Separates the vocals of a track from the rest.",
    operation: "vocal_removal",
    path: "/api/v1/tracks/{id}/vocal-removal",
  },
];

/** `split_stems` and `remove_vocals`. */
export function addSplitTools(host: McpHost): void {
  for (const split of SPLITS) {
    host.server.registerTool(
      split.tool,
      {
        title: split.title,
        description:
          `${split.does} Costs the credit_cost that get_track names for ${split.operation}; a failed job is ` +
          "refunded. Waits up to wait_seconds, then returns the job as it is: call get_job for the rest. Cancelling " +
          "the call cancels the job.",
        inputSchema: REQUEST,
        outputSchema: JOB.extend({ idempotency_key: z.string() }),
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
        _meta: { [META.cost]: { unit: "credits", of: `the split ${split.operation} of the track, in get_track` } },
      },
      guarded(host, ({ track_id: id, ...args }: ChargingArguments & { track_id: string }, context) =>
        charge(host, context, args, workOf(split, id)),
      ),
    );
  }
}

function workOf({ operation, path, title }: Split, id: string): ChargedWork {
  return {
    what: `"${title}" with ${id}`,
    cost: async (api) => {
      const { splits } = await api.GET("/api/v1/tracks/{id}/details", { params: { path: { id } } });
      const offer = splits.find((found) => found.operation === operation);
      if (offer === undefined) {
        const context = { code: "invalid_request", status: 400 };
        throw new FermataError(`The track ${id} cannot be split this way.`, context);
      }
      return offer.credit_cost;
    },
    start: async (api, key) => {
      const params = { path: { id }, header: { "Idempotency-Key": key } };
      return (await api.POST(path, { params, body: { client: "mcp" } })).job_id;
    },
    result: jobResult,
  };
}
