import { expect } from "chai";
import { dataOf, type HttpStatusError } from "../support/api-client.js";
import { submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

interface Job {
  readonly status: string;
  readonly created_at: string;
  readonly completed_at: string;
  readonly outputs: readonly { readonly url: string; readonly track_id: string }[];
  readonly error?: HttpStatusError;
}

const WAIT = { Prefer: "wait=20" };

describe("GET /api/v1/jobs/{job_id}", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ work: true });
  });
  after(() => test.close());

  it("returns a completed job with its tracks as outputs, and no error", async () => {
    test.provider.behaviour = submitCompletes;
    const { api } = await test.account();
    const { id } = dataOf<{ readonly id: string }>(await api.generate(undefined, WAIT));
    const job = dataOf<Job>(await api.get(`/api/v1/jobs/${id}`));
    const [mix] = job.outputs;
    expect(job).to.deep.equal({
      job_id: id,
      operation: "music_scripted_full",
      provider: "scripted",
      status: "completed",
      credits_charged: 10,
      outputs: [
        {
          type: "track",
          label: "full",
          track_id: mix?.track_id,
          url: mix?.url,
          content_type: "audio/mpeg",
          duration: 12.346,
          size_bytes: 1_000,
        },
      ],
      created_at: job.created_at,
      completed_at: job.completed_at,
    });
    expect(mix?.url).to.match(new RegExp(`^${test.url}/audio/.+\\.mp3\\?expires=\\d+&signature=`));
    expect(job.completed_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  const failures = [
    ["failed", "generation_failed", undefined],
    ["content_rejected", "invalid_request", { reason: "content_rejected" }],
    ["unavailable", "provider_unavailable", undefined],
    ["timeout", "provider_timeout", undefined],
  ] as const;
  for (const [kind, code, details] of failures) {
    it(`returns a job that failed by \`${kind}\` as ${code}, without the provider's message`, async () => {
      test.provider.behaviour = submitFails(kind);
      const { api } = await test.account();
      const created = await api.generate(undefined, { ...WAIT, "Idempotency-Key": `fails-${kind}` });
      const listed = dataOf<{ readonly generations: readonly { readonly id: string }[] }>(
        await api.get("/api/v1/generations"),
      );
      const response = await api.get(`/api/v1/jobs/${listed.generations[0]?.id}`);
      const job = dataOf<Job>(response);
      expect(response.status).to.equal(200);
      expect(job).to.include({ status: "failed", credits_charged: 0 });
      expect(job.outputs).to.deep.equal([]);
      expect(job.error).to.deep.equal({
        code,
        message: job.error?.message,
        request_id: created.headers.get("x-request-id"),
        ...(details === undefined ? {} : { details }),
      });
      expect(response.text).not.to.include("operators only");
      const generation = dataOf<Job>(await api.get(`/api/v1/generations/${listed.generations[0]?.id}`));
      expect(generation.error, "the generation's, alone").to.deep.equal(job.error);
      expect(listed.generations[0], "the generation's, in the list").to.deep.equal(generation);
    });
  }
});

describe("GET /api/v1/jobs/{job_id} while no worker is running", () => {
  it("returns the job as queued and reserved, without outputs, error and completion time", async () => {
    const test = await startTestApp();
    try {
      const { api } = await test.account();
      const { id } = dataOf<{ readonly id: string }>(await api.generate());
      const job = dataOf<Job>(await api.get(`/api/v1/jobs/${id}`));
      expect(job).to.deep.equal({
        job_id: id,
        operation: "music_scripted_full",
        provider: "scripted",
        status: "queued",
        credits_charged: 10,
        outputs: [],
        created_at: job.created_at,
        completed_at: null,
      });
    } finally {
      await test.close();
    }
  });
});
