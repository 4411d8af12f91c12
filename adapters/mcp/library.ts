import { z } from "zod";
import { guarded, type McpHost } from "./host.js";
import { META, success, trackLine, trackLinks, trackUri } from "./results.js";
import { CREDITS, ID, MODEL, PLAYLIST, TRACK } from "./schemas.js";
import { FermataError, ProtocolError, ProtocolErrorCode, ResourceNotFoundError, ResourceTemplate } from "./sdk.js";

const FREE = { [META.cost]: { unit: "credits", amount: 0 } };
const READS = { readOnlyHint: true, idempotentHint: true, destructiveHint: false, openWorldHint: false };
/** As many as a search finds at most. */
const LISTED_TRACKS = 25;

/** `list_models` and `get_credits`. */
export function addAccountTools(host: McpHost): void {
  const { server, api } = host;
  server.registerTool(
    "list_models",
    {
      title: "List models",
      description: "The models that can generate music, with what each takes and what it costs in credits. Free.",
      inputSchema: z.object({}),
      outputSchema: z.object({ models: z.array(MODEL) }),
      annotations: READS,
      _meta: FREE,
    },
    guarded(host, async () => {
      const { models } = await api.GET("/api/v1/models");
      const lines = models.map(({ id, name, credit_cost: cost, status }) => {
        return `- ${id} (${name}): ${cost} credits${status === "available" ? "" : `, ${status}`}`;
      });
      return success(lines.length === 0 ? "There are no models." : lines.join("\n"), { models });
    }),
  );
  server.registerTool(
    "get_credits",
    {
      title: "Look at the credits",
      description: "How many credits the account has. Free.",
      inputSchema: z.object({}),
      outputSchema: CREDITS,
      annotations: READS,
      _meta: FREE,
    },
    guarded(host, async () => {
      const credits = await api.GET("/api/v1/credits");
      return success(`${credits.available} credits are available.`, credits);
    }),
  );
}

/** `search_library` and `get_track`. */
export function addLibraryTools(host: McpHost): void {
  const { server, api } = host;
  const query = z.object({
    q: z.string().optional().describe("Words, each of which must start a word of title, artist, prompt or tags"),
    mood: z.string().optional(),
    activity: z.string().optional(),
    limit: z.int().min(1).max(LISTED_TRACKS).optional(),
    cursor: z.string().optional().describe("next_cursor of the same search before, for what follows"),
  });
  server.registerTool(
    "search_library",
    {
      title: "Search the library",
      description: "Finds tracks and playlists among the public ones and the account's own. Free.",
      inputSchema: query,
      outputSchema: z.object({
        tracks: z.array(TRACK),
        playlists: z.array(PLAYLIST),
        next_cursor: z.string().nullable().optional().describe("Null where nothing follows"),
      }),
      annotations: READS,
      _meta: FREE,
    },
    guarded(host, async (args: z.infer<typeof query>) => {
      const found = await api.GET("/api/v1/library/search", { params: { query: args } });
      const lines = [
        ...found.tracks.map(trackLine),
        ...found.playlists.map(({ id, title, track_count: count }) => `- playlist ${title} (${id}): ${count} tracks`),
        // Servers of before have no cursors.
        ...(found.next_cursor ? [`There is more, with cursor ${found.next_cursor}.`] : []),
      ];
      return success(
        lines.length === 0 ? "Nothing was found." : lines.join("\n"),
        { ...found },
        trackLinks(found.tracks),
      );
    }),
  );
  server.registerTool(
    "get_track",
    {
      title: "Look at a track",
      description: "A track with links to its audio, and how it can be split for how many credits. Free.",
      inputSchema: z.object({ track_id: ID }),
      outputSchema: TRACK.extend({
        splits: z.array(z.looseObject({ operation: z.string(), credit_cost: z.number() })),
      }),
      annotations: READS,
      _meta: FREE,
    },
    guarded(host, async ({ track_id: id }: { track_id: string }) => {
      const params = { path: { id } };
      const [track, { splits }] = await Promise.all([
        api.GET("/api/v1/tracks/{id}", { params }),
        api.GET("/api/v1/tracks/{id}/details", { params }),
      ]);
      const offers = splits.map(({ operation, credit_cost: cost }) => `- ${operation}: ${cost} credits`);
      return success([trackLine(track), ...offers].join("\n"), { ...track, splits }, trackLinks([track]));
    }),
  );
}

/** `fermata://tracks/{id}`; the list has the tracks that a search without words finds. */
export function addTrackResources({ server, api }: McpHost): void {
  const list = async (): Promise<{ resources: { uri: string; name: string; title: string }[] }> => {
    const params = { query: { limit: LISTED_TRACKS } };
    const { tracks } = await read(api.GET("/api/v1/library/search", { params }), "fermata://tracks");
    return { resources: tracks.map(({ id, title }) => ({ uri: trackUri(id), name: id, title })) };
  };
  const read = async <T>(call: Promise<T>, uri: string): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      if (!(error instanceof FermataError)) throw error;
      if (error.status === 404) throw new ResourceNotFoundError(uri);
      throw new ProtocolError(ProtocolErrorCode.InternalError, `${error.code}: ${error.message}`);
    }
  };
  server.registerResource(
    "track",
    new ResourceTemplate("fermata://tracks/{id}", { list }),
    { title: "Track", description: "A track, with links to its audio and its cover", mimeType: "application/json" },
    async (uri, { id }) => {
      const track = await read(api.GET("/api/v1/tracks/{id}", { params: { path: { id: String(id) } } }), uri.href);
      return { contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify(track) }] };
    },
  );
}
