import { expect } from "chai";
import { A_GENERATION, type ApiResponse, dataOf, errorOf, refusalOf } from "../support/api-client.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { submitCompletes, submitFails, submitHolds } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

interface ShownTrack {
  readonly play_url: string;
}

interface Waited {
  readonly id: string;
  readonly status_url: string;
  readonly tracks?: readonly ShownTrack[];
}

describe("Prefer: wait on POST /api/v1/generations", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ work: true });
  });
  beforeEach(() => {
    test.provider.behaviour = submitCompletes;
  });
  after(() => test.close());

  const expectReplay = (again: ApiResponse, first: ApiResponse): void => {
    expect([again.status, again.text]).to.deep.equal([first.status, first.text]);
    expect(again.headers.get("idempotent-replayed")).to.equal("true");
    expect(again.headers.get("preference-applied")).to.equal(null);
  };

  it("returns the completed generation with its tracks, and records that response", async () => {
    const { api } = await test.account();
    const headers = { Prefer: "wait=20", "Idempotency-Key": "k" };
    const first = await api.generate(A_GENERATION, headers);
    const data = dataOf<Waited>(first);
    expect(first.status).to.equal(202);
    expect(data).to.include({ status: "completed", model_id: "scripted/song", credits_reserved: 10 });
    expect(Object.keys(data)).to.deep.equal([
      "id",
      "status",
      "model_id",
      "credits_reserved",
      "created_at",
      "status_url",
      "tracks",
    ]);
    expect(first.headers.get("preference-applied")).to.equal("wait=20");
    expect(first.headers.get("location")).to.equal(data.status_url);
    const shown = dataOf<Waited>(await api.get(`/api/v1/generations/${data.id}`));
    const unsigned = ({ play_url, ...track }: ShownTrack): object => ({ ...track, play_url: play_url.split("?")[0] });
    expect(data.tracks?.map(unsigned)).to.deep.equal(shown.tracks?.map(unsigned)).and.have.lengthOf(1);
    const played = await fetch(data.tracks?.[0]?.play_url ?? "");
    expect([played.status, played.headers.get("content-type")]).to.deep.equal([200, "audio/mpeg"]);
    await played.arrayBuffer();
    expectReplay(await api.generate(A_GENERATION, headers), first);
  });

  it("is not applied to more requests of an account at once than may wait: those are accepted at once", async () => {
    const own = await startTestApp({ work: true, settings: { http: { maxWaitsPerAccount: 1 } } });
    try {
      const held = submitHolds();
      own.provider.behaviour = held.behaviour;
      const [one, other] = [await own.account(), await own.account()];
      const [first, others] = [
        one.api.generate(undefined, { Prefer: "wait=55" }),
        other.api.generate(undefined, { Prefer: "wait=55" }),
      ];
      await own.provider.submitted(2);
      const second = await one.api.generate(undefined, { Prefer: "wait=55" });
      expect([second.status, second.headers.get("preference-applied")]).to.deep.equal([202, null]);
      expect(dataOf(second)).to.include({ status: "queued" });
      held.release();
      for (const response of await Promise.all([first, others])) {
        expect(response.headers.get("preference-applied")).to.equal("wait=55");
        expect(dataOf(response)).to.include({ status: "completed" });
      }
      const again = await one.api.generate(undefined, { Prefer: "wait=55" });
      expect(dataOf(again)).to.include({ status: "completed" });
    } finally {
      await own.close();
    }
  });

  it("returns no tracks where the key may not read generations", async () => {
    const { api } = await test.account({ scopes: ["generations:create"] });
    const response = await api.generate(undefined, { Prefer: "wait=20" });
    expect(dataOf<Waited>(response)).to.include({ status: "completed" }).and.not.have.property("tracks");
  });

  for (const [kind, code] of [
    ["unavailable", "provider_unavailable"],
    ["timeout", "provider_timeout"],
  ] as const) {
    it(`returns 502 ${code} when the job fails because the provider is unavailable, and records it`, async () => {
      test.provider.behaviour = submitFails(kind);
      const { api } = await test.account({ credits: 10 });
      const headers = { Prefer: "wait=20", "Idempotency-Key": "k" };
      const first = await api.generate(A_GENERATION, headers);
      expect(refusalOf(first)).to.equal(`502 ${code}`);
      expect(errorOf(first).request_id).to.equal(first.headers.get("x-request-id"));
      expect(first.headers.get("location")).to.equal(null);
      expect(first.text).not.to.include("operators only");
      expect(dataOf(await api.get("/api/v1/credits"))["available"]).to.equal(10);
      expectReplay(await api.generate(A_GENERATION, headers), first);
    });
  }

  for (const kind of ["failed", "content_rejected"] as const) {
    it(`returns 202 with a failed status when the job fails by \`${kind}\``, async () => {
      test.provider.behaviour = submitFails(kind);
      const { api } = await test.account();
      const response = await api.generate(undefined, { Prefer: "wait=20" });
      expect(response.status).to.equal(202);
      expect(dataOf(response)).to.include({ status: "failed" }).and.not.have.property("tracks");
    });
  }

  it("returns the acceptance without tracks, and records no links, when the key is revoked meanwhile", async () => {
    const { behaviour, release } = submitHolds();
    test.provider.behaviour = behaviour;
    const { api, keyId } = await test.account();
    const seen = test.provider.submissions.length;
    const waiting = api.generate(A_GENERATION, { Prefer: "wait=20", "Idempotency-Key": "k" });
    await test.provider.submitted(seen + 1);
    await test.app.accounts.revokeKey(keyId);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    release();
    const response = await waiting;
    expect(response.status).to.equal(202);
    expect(dataOf<Waited>(response)).to.include({ status: "queued" }).and.not.have.property("tracks");
  });

  it("returns the acceptance to a retry at once while the first request still waits", async () => {
    const { behaviour, release } = submitHolds();
    test.provider.behaviour = behaviour;
    const { api } = await test.account();
    const seen = test.provider.submissions.length;
    const headers = { Prefer: "wait=20", "Idempotency-Key": "k" };
    const waiting = api.generate(A_GENERATION, headers);
    await test.provider.submitted(seen + 1);
    const retry = await api.generate(A_GENERATION, headers);
    expect(dataOf(retry)["status"]).to.equal("queued");
    expect(retry.headers.get("idempotent-replayed")).to.equal("true");
    release();
    expect(dataOf(await waiting)["status"]).to.equal("completed");
  });

  it("keeps the acceptance as the recorded response when the client disconnects", async () => {
    const { behaviour, release } = submitHolds();
    test.provider.behaviour = behaviour;
    const { api } = await test.account();
    const seen = test.provider.submissions.length;
    const gone = new AbortController();
    const waiting = api.generate(A_GENERATION, { Prefer: "wait=20", "Idempotency-Key": "k" }, gone.signal);
    await test.provider.submitted(seen + 1);
    gone.abort();
    await waiting.catch(() => undefined);
    await api.get("/api/v1/me"); // after this response the server has noticed the disconnect
    release();
    await api.generate(undefined, { Prefer: "wait=20" });
    expect(dataOf(await api.generate(A_GENERATION, { "Idempotency-Key": "k" }))["status"]).to.equal("queued");
  });

  const applied: readonly (readonly [prefer: string, wait: string | null])[] = [
    ["wait=0", "wait=0"],
    ["WAIT = 20", "wait=20"],
    ["respond-async, wait=20", "wait=20"],
    ['foo="a, wait=1"; bar, wait=20; x=y', "wait=20"],
    ["wait=20, wait=1", "wait=20"],
    ["wait=3600", "wait=55"],
    ["wait=99999999999999999999", "wait=55"],
    ["wait=-1", null],
    ["wait=1.5", null],
    ["wait=soon", null],
    ["wait", null],
    ["wait=", null],
    ["await=5", null],
    ["respond-async; wait=5", null],
    [',,;="', null],
  ];
  for (const [prefer, wait] of applied) {
    it(`reads \`Prefer: ${prefer}\` as ${wait ?? "nothing"}`, async () => {
      const { api } = await test.account();
      const response = await api.generate(undefined, { Prefer: prefer });
      expect(response.status).to.equal(202);
      expect(response.headers.get("preference-applied")).to.equal(wait);
    });
  }
});

describe("Prefer: wait with a maxWaitSeconds of its own", () => {
  it("waits as long as the setting allows", async () => {
    const test = await startTestApp({ work: true, settings: { http: { maxWaitSeconds: 120 } } });
    try {
      const { api } = await test.account();
      const response = await api.generate(undefined, { Prefer: "wait=3600" });
      expect(response.headers.get("preference-applied")).to.equal("wait=120");
    } finally {
      await test.close();
    }
  });
});

describe("Prefer: wait when the wait ends before the job", () => {
  it("returns the current status, and records that response", async () => {
    const clock = new ManualClock();
    const test = await startTestApp({ work: true, clock });
    try {
      const { behaviour, release } = submitHolds();
      test.provider.behaviour = behaviour;
      const { api } = await test.account();
      const headers = { Prefer: "wait=55", "Idempotency-Key": "k" };
      const waiting = api.generate(A_GENERATION, headers);
      await test.provider.submitted();
      await clock.advance(55_000);
      const first = await waiting;
      expect(dataOf(first)).to.include({ status: "processing" }).and.not.have.property("tracks");
      const again = await api.generate(A_GENERATION, headers);
      expect([again.status, again.text]).to.deep.equal([202, first.text]);
      release();
    } finally {
      await test.close();
    }
  });
});
