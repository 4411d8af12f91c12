import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { fingerprint } from "../../adapters/crypto/secret-key.js";
import type { Generation, JobId, LeaseRenewal, Overrides, RateLimiter } from "../../config/index.js";
import { ServiceUnavailableError } from "../../core/errors.js";
import { errorOf, refusalOf } from "../support/api-client.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { FaultyPort } from "../support/doubles/faulty-port.js";
import { FixedKeyring } from "../support/doubles/fixed-keyring.js";
import { MemoryAudioStore } from "../support/doubles/memory-audio-store.js";
import { RecordingMetrics } from "../support/doubles/recording-metrics.js";
import { scriptedBytes, submitHolds } from "../support/doubles/scripted-provider.js";
import { StubGuard } from "../support/doubles/stub-guard.js";
import { startTestApp, type TestAccount, type TestApp, type TestAppOptions } from "../support/test-app.js";

const INPUT = { modelId: "scripted/song", prompt: "slow sad piano" };

/** Lets the first `capacity` reads pass, and everything else. */
function limiterOf(capacity: number): RateLimiter {
  let count = 0;
  const decision = (isAllowed: boolean, rules: Parameters<RateLimiter["consume"]>[1]) => ({
    allowed: isAllowed,
    windows: rules.map((rule) => ({ ...rule, remaining: Math.max(0, capacity - count), resetSeconds: 7 })),
  });
  return {
    consume: async (subject, rules) => decision(!subject.startsWith("read ") || count++ < capacity, rules),
    peek: async (subject, rules) => decision(!subject.startsWith("read ") || count < capacity, rules),
    giveBack: () => undefined,
    close: () => Promise.resolve(),
  };
}

describe("An app with ports of its own", () => {
  let test: TestApp | undefined;

  afterEach(async () => {
    await test?.close();
    test = undefined;
  });

  async function start(options: TestAppOptions): Promise<{ readonly test: TestApp; readonly caller: TestAccount }> {
    test = await startTestApp(options);
    return { test, caller: await test.account() };
  }

  async function generated(options: Overrides): Promise<{ readonly test: TestApp; readonly ended: Generation }> {
    const { test, caller } = await start({ work: true, ...options });
    const { id } = await test.app.generations.create(caller.account.id, INPUT);
    return { test, ended: await test.app.generations.wait(id) };
  }

  it("refuses requests when its rate limiter does", async () => {
    const { caller } = await start({ rateLimiter: limiterOf(2) });
    const responses = [await caller.api.get("/api/v1/me"), await caller.api.get("/api/v1/me")];
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200]);
    const refused = await caller.api.get("/api/v1/me");
    expect(refusalOf(refused)).to.equal("429 rate_limited");
    expect(errorOf(refused).details).to.include({ retry_after_seconds: 7 });
  });

  it("closes the audio store that it was given, once", async () => {
    let closed = 0;
    const audio = Object.assign(new MemoryAudioStore(), { close: () => void (closed += 1) });
    const stopped = await startTestApp({ audio });
    expect(closed).to.equal(0);
    await stopped.close();
    expect(closed).to.equal(1);
  });

  it("counts in its own metrics, and serves no page of them", async () => {
    const metrics = new RecordingMetrics();
    const { test, ended } = await generated({ metrics });
    expect(ended.status).to.equal("completed");
    expect((await test.anonymous.get("/metrics")).status).to.equal(404);
    expect(metrics.counted).to.deep.include(["job", "completed"]);
    expect(metrics.counted).to.deep.include(["attempt", "delivered"]);
    expect(metrics.counted.some(([what]) => what === "request")).to.equal(true);
    expect(test.metricsUrl).to.equal(null);
  });

  it("counts nothing when its metrics are null", async () => {
    const { test } = await start({ metrics: null });
    expect((await test.anonymous.get("/metrics")).status).to.equal(404);
  });

  it("stores what its asset opener returns", async () => {
    const bytes = scriptedBytes("audio/flac");
    const { test, ended } = await generated({
      assetOpener: {
        open: async () => ({
          contentType: "audio/flac",
          bytes: (async function* () {
            yield bytes;
          })(),
        }),
        close: () => Promise.resolve(),
      },
    });
    const [track] = ended.tracks;
    const mix = track?.assets.find(({ role }) => role === "mix");
    if (track === undefined || mix === undefined) throw new Error(`There is no mix: ${ended.error?.message}`);
    const url = new URL(test.app.audioUrls.sign(mix.audioKey, { generation: track.linkGeneration }));
    const served = await fetch(`${test.url}${url.pathname}${url.search}`);
    expect(served.headers.get("content-type")).to.equal("audio/flac");
    expect(new Uint8Array(await served.arrayBuffer())).to.deep.equal(bytes);
  });

  it("has its leases renewed by its own renewal", async () => {
    const kept: JobId[] = [];
    const renewLeases = (): LeaseRenewal => ({
      keep: (leases) => void kept.push(...leases.map(([jobId]) => jobId)),
      forget: () => undefined,
      onLost: () => undefined,
      close: () => Promise.resolve(),
    });
    const { ended } = await generated({ renewLeases });
    expect(kept).to.include(ended.id);
  });

  it("finds its keys by hashes of its own digest", async () => {
    const storage = await sqliteStorage.open();
    const node = new NodeDigest();
    const reversed = (data: string | Uint8Array): string => [...node.sha256(data)].reverse().join("");
    const digest = {
      sha256: reversed,
      hmacSha256: node.hmacSha256.bind(node),
      equals: node.equals.bind(node),
    };
    try {
      const { caller } = await start({ stores: storage, digest });
      expect((await caller.api.get("/api/v1/me")).status).to.equal(200);
      const [own, builtIn] = [reversed(caller.key), node.sha256(caller.key)];
      const holders = await storage.accounts.findKeyHolders([own, builtIn]);
      expect([...holders.keys()]).to.deep.equal([own]);
    } finally {
      await test?.close();
      test = undefined;
      await storage.close();
    }
  });

  describe("for secrets", () => {
    const keyring = new FixedKeyring();
    const secretKeys = {
      origin: "settings",
      place: "the vault",
      load: () => Promise.resolve([fingerprint(keyring.secretKey)]),
      add: () => Promise.reject(new Error("The vault does that.")),
      keepOnly: () => Promise.resolve(),
    } as const;

    it("signs and seals by its keyring", async () => {
      const { test, ended } = await generated({ keyring, secretKeys });
      const [track] = ended.tracks;
      const [asset] = track?.assets ?? [];
      if (track === undefined || asset === undefined) throw new Error("There is no track.");
      const url = test.app.audioUrls.sign(asset.audioKey, { generation: track.linkGeneration });
      expect(url).to.include(fingerprint(keyring.secretKey));
      expect((await fetch(url)).status).to.equal(200);
      expect(existsSync(join(test.app.settings.dataDir, "secret.key"))).to.equal(false);
    });

    it("is refused a keyring without the secret keys, and the other way round", async () => {
      for (const half of [{ keyring }, { secretKeys }]) {
        const error = await startTestApp(half).then(
          (started) => started.close(),
          (refusal: unknown) => refusal,
        );
        expect(error).to.be.instanceOf(Error).with.property("message").that.includes("keyring and secretKeys");
      }
    });

    it("seals secrets of endpoints in its own box", async () => {
      const storage = await sqliteStorage.open();
      try {
        const secretBox = {
          seal: (text: string, context: string) => `mine ${context} ${Buffer.from(text).toString("hex")}`,
          open: (sealed: string) => Promise.resolve(Buffer.from(sealed.split(" ")[2] ?? "", "hex").toString()),
          keyIdOf: () => fingerprint(keyring.secretKey),
        };
        const { test, caller } = await start({
          stores: storage,
          secretBox,
          keyring,
          secretKeys,
          addressGuard: new StubGuard(),
        });
        const { endpoint } = await test.app.webhooks.endpoints.create(caller.account.id, "https://hooks.example.com/x");
        const stored = (await storage.webhooks.findEndpoints([endpoint.id])).get(endpoint.id);
        expect(stored?.sealedSecret).to.match(new RegExp(`^mine ${endpoint.id} `));
      } finally {
        await test?.close();
        test = undefined;
        await storage.close();
      }
    });
  });

  describe("for storage", () => {
    let storage: SqliteUnderTest;
    beforeEach(async () => {
      storage = await sqliteStorage.open();
    });
    afterEach(() => storage.close());

    it("keeps its jobs in its own stores, opens no database, and leaves the stores open", async () => {
      const { test, ended } = await generated({ stores: storage });
      expect(ended).to.include({ status: "completed" });
      expect((await test.anonymous.get("/readyz")).status).to.equal(200);
      const { dataDir } = test.app.settings;
      expect(existsSync(join(dataDir, "audio"))).to.equal(true);
      expect(existsSync(join(dataDir, "fermata.sqlite"))).to.equal(false);
      await test.app.stop();
      expect((await storage.jobs.findJobs([ended.id])).get(ended.id)).to.include({ status: "completed" });
    });

    it("renews leases in them by its own clock", async () => {
      const renewed: JobId[] = [];
      let renew = (): void => undefined;
      const isRenewed = new Promise<void>((resolve) => (renew = resolve));
      const jobs = new Proxy(storage.jobs, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== "function") return member;
          return (...args: unknown[]): unknown => {
            if (name === "renewLeases") {
              renewed.push(...(args[1] as JobId[]));
              renew();
            }
            return Reflect.apply(member, target, args);
          };
        },
      });
      const settings = { jobs: { leaseSeconds: 1, maxAttempts: 1, shutdownGraceSeconds: 0.1 } };
      const { test, caller } = await start({ work: true, settings, stores: { ...storage, jobs } });
      const held = submitHolds();
      test.provider.behaviour = held.behaviour;
      const { id } = await test.app.generations.create(caller.account.id, INPUT);
      await isRenewed;
      expect(renewed).to.include(id);
      held.release();
      expect((await test.app.generations.wait(id)).status).to.equal("completed");
    });

    it("works on jobs although its stores cannot count those of other providers as it begins", async () => {
      const jobs = new FaultyPort(storage.jobs).failOn("countAlive", () => new ServiceUnavailableError());
      const { test, caller } = await start({ work: true, stores: { ...storage, jobs } });
      const { id } = await test.app.generations.create(caller.account.id, INPUT);
      expect((await test.app.generations.wait(id)).status).to.equal("completed");
    });

    it("is not ready while its stores do not respond", async () => {
      const { test } = await start({ stores: storage });
      await storage.database.close();
      const response = await test.anonymous.get("/readyz");
      expect(refusalOf(response)).to.equal("503 service_unavailable");
      expect(errorOf(response).details).to.deep.equal({ not_ready: ["storage"] });
    });
  });
});
