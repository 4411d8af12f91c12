import { z } from "zod";
import { charge, type ChargedWork, type ChargingArguments } from "./charge.js";
import { jobResult } from "./generations.js";
import { ApiError } from "./api.js";
import { guarded, type McpHost } from "./host.js";
import { META } from "./results.js";
import { CHARGING, JOB } from "./schemas.js";

const REQUEST = z.object({ track_id: z.string().min(1), ...CHARGING });

interface Offers {
  readonly splits: readonly { readonly operation: string; readonly credit_cost: number }[];
}

interface Split {
  readonly tool: string;
  readonly title: string;
  readonly does: string;
  readonly operation: "stem_split" | "vocal_removal";
  /** The last part of its address. */
  readonly path: "stems" | "vocal-removal";
}

const SPLITS: readonly Split[] = [
  {
    tool: "split_stems",
    title: "Split a track into stems",
    does: "Separates a track into stems such as vocals, drums and bass.",
    operation: "stem_split",
    path: "stems",
  },
  {
    tool: "remove_vocals",
    title: "Remove the vocals of a track",
    does: "Separates the vocals of a track from the rest.",
    operation: "vocal_removal",
    path: "vocal-removal",
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
          `${split.does} Costs the credit_cost that get_track names for ${split.operation}; a failed job is refunded. ` +
          "Waits up to wait_seconds, then returns the job as it is: call get_job for the rest. Cancelling the call " +
          "cancels the job.",
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
  const track = `/api/v1/tracks/${encodeURIComponent(id)}`;
  return {
    what: `"${title}" with ${id}`,
    cost: async (api) => {
      const { splits } = await api.get<Offers>(`${track}/details`);
      const offer = splits.find((found) => found.operation === operation);
      if (offer === undefined) throw new ApiError(400, "invalid_request", `The track ${id} cannot be split this way.`);
      return offer.credit_cost;
    },
    start: async (api, key) => (await api.post<{ job_id: string }>(`${track}/${path}`, { client: "mcp" }, key)).job_id,
    result: jobResult,
  };
}
