import { expect } from "chai";
import type { JobId } from "../../../../core/ids.js";
import type { JobStatus } from "../../../../core/jobs/job.js";
import {
  type AudioFate,
  decideCollection,
  jobOfKey,
  prefixOfKey,
} from "../../../../core/maintenance/decide-collection.js";
import { anId, NOON } from "../../../support/builders.js";

const JOB = anId("job");
const OTHER = anId("job");

/** What becomes of a file that is old enough. */
function fateOf(
  key: string,
  status: JobStatus | null,
  { named = [], modifiedAt = NOON - 1 }: { readonly named?: readonly string[]; readonly modifiedAt?: number } = {},
): AudioFate {
  const jobs = new Map<JobId, { readonly status: JobStatus }>(status === null ? [] : [[JOB, { status }]]);
  const [fate] = decideCollection([{ key, modifiedAt }], { jobs, uploads: new Map(), named: new Set(named) }, NOON);
  return fate as AudioFate;
}

describe("The fate of a stored file", () => {
  const mix = `${JOB}/2/0-mix.mp3`;

  it("is to be deleted where its job has ended, well or not, and nothing names it", () => {
    expect([fateOf(mix, "failed"), fateOf(mix, "completed")]).to.deep.equal(["orphaned", "orphaned"]);
    expect(fateOf(`${JOB}/1/0-mix.mp3`, "completed", { named: [mix] })).to.equal("orphaned");
    expect(fateOf(`${JOB}/stray.mp3`, "failed")).to.equal("orphaned");
  });

  it("is to stay where a track or an output names exactly this key, in every state of its job", () => {
    for (const status of ["completed", "failed", "queued", null] as const)
      expect(fateOf(mix, status, { named: [mix] })).to.equal("named");
    expect(fateOf(`${mix}.bak`, "completed", { named: [mix] })).to.equal("orphaned");
  });

  it("is to stay while its job is alive", () => {
    expect([fateOf(mix, "queued"), fateOf(mix, "processing")]).to.deep.equal(["alive", "alive"]);
  });

  it("is to stay while it is new", () => {
    expect(
      [NOON - 1, NOON, NOON + 86_400_000].map((modifiedAt) => fateOf(mix, "failed", { modifiedAt })),
    ).to.deep.equal(["orphaned", "recent", "recent"]);
  });

  it("is to stay where no job is known that it belongs to", () => {
    for (const key of [mix, `${OTHER}/1/0-mix.mp3`])
      expect(fateOf(key, key === mix ? null : "failed")).to.equal("unknown");
    for (const key of [
      JOB,
      `${JOB}.mp3`,
      `${JOB}x/1/0-mix.mp3`,
      `trk_${JOB.slice(4)}/mix.mp3`,
      `old/${mix}`,
      "readme.txt",
    ])
      expect(fateOf(key, "failed"), key).to.equal("unknown");
  });

  it("is to be deleted where its upload is over and nothing names it, and to stay while one is under way", () => {
    const TRACK = anId("trk");
    const fate = (createdAt: number, storedAt: number | null, modifiedAt = NOON - 1): AudioFate => {
      const uploads = new Map([[TRACK, { createdAt, storedAt }]]);
      const files = [{ key: `${TRACK}/mix.mp3`, modifiedAt }];
      return decideCollection(files, { jobs: new Map(), uploads, named: new Set() }, NOON)[0] as AudioFate;
    };
    const over = [fate(NOON - 1, null), fate(NOON - 1, NOON), fate(NOON, NOON)];
    expect(over).to.deep.equal(["orphaned", "orphaned", "orphaned"]);
    expect([fate(NOON, null), fate(NOON - 1, null, NOON)]).to.deep.equal(["alive", "recent"]);
  });

  it("is decided for each file of a page by itself", () => {
    const files = [mix, `${JOB}/1/0-mix.mp3`, "x/y"].map((key) => ({ key, modifiedAt: 0 }));
    const jobs = new Map([[JOB, { status: "completed" as const }]]);
    const known = { jobs, uploads: new Map(), named: new Set([mix]) };
    expect(decideCollection(files, known, NOON)).to.deep.equal(["named", "orphaned", "unknown"]);
  });
});

describe("A key", () => {
  it("says which job it belongs to", () => {
    expect([jobOfKey(`${JOB}/1/0-mix.mp3`), jobOfKey(JOB), jobOfKey("trk_1/mix.mp3")]).to.deep.equal([JOB, null, null]);
    expect(["a/b/c", "a", "a/"].map(prefixOfKey)).to.deep.equal(["a", "a", "a"]);
  });
});
