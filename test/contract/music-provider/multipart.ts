import { bytes, multipart } from "../../support/provider-kit/responses.js";
import { tinyMp3 } from "../../support/provider-kit/sounds.js";
import { isApplicable, type MusicProviderHarness } from "./harness.js";
import { expectTracks } from "./operations.js";
import type { ProviderUnderTest } from "./tested.js";

const BOUNDARY = "b7f3";
/** Sound may have whatever bytes: line ends at both ends of a part, and what begins like a delimiter. */
const MIX = new Uint8Array(Buffer.concat([tinyMp3("in parts"), Buffer.from(`\r\n--b7\n\n--\r\n\r\n${BOUNDARY}\n\r`)]));

/** What the header says of the boundary. */
const HEADERS: readonly (readonly [what: string, contentType: string])[] = [
  ["the header names the boundary", `multipart/mixed; boundary=${BOUNDARY}`],
  ["the header quotes the boundary", `multipart/mixed; boundary="${BOUNDARY}"; charset=utf-8`],
  ["the header names another boundary", "multipart/mixed; boundary=another"],
  ["the header names no boundary", "multipart/mixed"],
];

/** Responses in parts: vendors' servers differ in line ends and in what their header says. */
export function describeMultipart({ generation }: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  if (!isApplicable(generation) || generation.multipart === undefined) return;
  const { route, response } = generation.multipart;
  for (const [lines, lineEnd] of [["CRLF", "\r\n"] as const, ["LF", "\n"] as const]) {
    for (const [what, contentType] of HEADERS) {
      it(`reads a multipart response: lines end with ${lines}, ${what}`, async () => {
        const { fake } = tested();
        const { parts, tracks = [] } = response(fake, MIX);
        fake.on(route.method, route.path, bytes(multipart(parts, BOUNDARY, lineEnd), contentType));
        const { completed } = await tested().finish(await tested().submit(tested().music()), "music");
        await expectTracks(completed, { mixes: [MIX], tracks });
      });
    }
  }
}
