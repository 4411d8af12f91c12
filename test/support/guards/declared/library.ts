import type { Guard } from "../guard.js";

const LINKS = ["test/unit/core/library/audio-urls.test.ts"];
const LIBRARY = [
  "test/unit/core/library/playlist-rules.test.ts",
  "test/api/tracks.test.ts",
  "test/api/playlists.test.ts",
];
const api = (...names: readonly string[]): string[] => names.map((name) => `test/api/${name}.test.ts`);

/** Who may hear, change, share and delete tracks and playlists, and links to their audio. */
export const LIBRARY_ACCESS: readonly Guard[] = [
  {
    name: "a link is checked by its signature",
    file: "core/library/audio-urls.ts",
    find: "if (!this.deps.digest.equals(signature, expected)) return FORGED;",
    replace: "",
    tests: LINKS,
  },
  {
    name: "a link ends",
    file: "core/library/audio-urls.ts",
    find: `if (this.deps.clock.now() >= Number(expires) * 1000) return { state: "expired" };`,
    replace: "",
    tests: LINKS,
  },
  {
    name: "a link ends when its track is unshared",
    file: "core/library/audio-urls.ts",
    find: `current === Number(generation ?? 0) ? { state: "valid", audioKey } : REVOKED`,
    replace: `{ state: "valid", audioKey }`,
    tests: [...LINKS, ...api("revoked-links")],
  },
  {
    name: "a link ends when its file is deleted",
    file: "core/library/audio-urls.ts",
    find: "return isGone ? GONE :",
    replace: "return isGone && false ? GONE :",
    tests: [...LINKS, ...api("revoked-links", "delete-track")],
  },
  {
    name: "the signature of a link covers its file",
    file: "core/library/audio-urls.ts",
    find: ': `${audioKey}\\n${expires}\\n${generation ?? "-"}`;',
    replace: ': `${expires}\\n${generation ?? "-"}`;',
    tests: LINKS,
  },
  {
    name: "the signature of a link covers its end",
    file: "core/library/audio-urls.ts",
    find: ': `${audioKey}\\n${expires}\\n${generation ?? "-"}`;',
    replace: ': `${audioKey}\\n${generation ?? "-"}`;',
    tests: LINKS,
  },
  {
    name: "the signature of a link covers its generation",
    file: "core/library/audio-urls.ts",
    find: ': `${audioKey}\\n${expires}\\n${generation ?? "-"}`;',
    replace: ": `${audioKey}\\n${expires}`;",
    tests: LINKS,
  },
  {
    name: "a private track or playlist is seen by its owner alone",
    file: "core/library/access.ts",
    find: `thing.visibility === "public" || (viewer !== null && thing.accountId === viewer)`,
    replace: "true",
    tests: LIBRARY,
  },
  {
    name: "what has no owner is not everybody's",
    file: "core/library/access.ts",
    find: "(viewer !== null && thing.accountId === viewer)",
    replace: "thing.accountId === viewer",
    tests: LIBRARY,
  },
  {
    name: "a shared track of a suspended account is not shown",
    file: "core/library/public-links.ts",
    find: "return (await this.suspended()).has(track.accountId) ? null : track;",
    replace: "return track;",
    tests: api("suspension"),
  },
  {
    name: "a file of a suspended account is not served",
    file: "core/library/public-links.ts",
    find: "return owner !== null && suspended.has(owner);",
    replace: "return owner !== null && suspended.has(owner) && false;",
    tests: api("suspension"),
  },
];
