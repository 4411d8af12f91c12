import { createCipheriv, hkdfSync, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { fingerprint, newSecretKey } from "../../../adapters/crypto/secret-key.js";
import { SecretKeyFile, SettingsSecretKeys } from "../../../adapters/crypto/secret-keys.js";
import type { WebhookEndpointId } from "../../../core/ids.js";
import { FIRST_KEY } from "../../../core/secrets/key-state.js";
import { resealTask } from "../../../core/secrets/reseal-task.js";
import { sqliteStorage } from "../../support/databases.js";
import { mysqlStorage } from "../../support/mysql.js";
import { Installation, type InstallationProcess } from "./installation.js";

const signal = new AbortController().signal;
const GENTLE = { force: false };

const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "DONE",
    (error: Error) => error.message,
  );

/** Sealed as by versions without key ids. */
function oldSeal(secretKey: string, text: string, context: string): string {
  const key = new Uint8Array(hkdfSync("sha256", secretKey, "", "fermata secret box v1", 32));
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
  const bytes = [nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()];
  return `v1.${Buffer.concat(bytes).toString("base64url")}`;
}

for (const kind of [sqliteStorage, mysqlStorage]) {
  describe(`Rotating the secret key on ${kind.name}`, () => {
    let installation: Installation;
    let here: InstallationProcess;
    let there: InstallationProcess;
    beforeEach(async () => {
      installation = await Installation.open(kind);
      [here, there] = [await installation.process(), await installation.process()];
    });
    afterEach(() => installation.close());

    const addEndpoint = (process: InstallationProcess, name: string): Promise<{ readonly secret: string }> =>
      process.endpoints.create(installation.accountId, `https://${name}.example.com/`);

    /** The key ids of everything that is sealed, of the oldest endpoint first. */
    async function sealedWith(): Promise<string[]> {
      const endpoints = await installation.storage.webhooks.listEndpoints(installation.accountId);
      return endpoints
        .reverse()
        .flatMap(({ sealedSecret, retiredSecrets }) => [sealedSecret, ...retiredSecrets.map(({ sealed }) => sealed)])
        .map((sealed) => here.secretBox.keyIdOf(sealed));
    }

    /** The secrets with which a process signs a delivery to each endpoint. */
    async function signingSecrets(process: InstallationProcess): Promise<(readonly string[])[]> {
      const endpoints = (await installation.storage.webhooks.listEndpoints(installation.accountId)).reverse();
      installation.sender.messages.length = 0;
      for (const { id } of endpoints) await process.operate.ping(id, signal);
      return installation.sender.messages.map(({ secrets }) => secrets);
    }

    async function spoil(id: WebhookEndpointId): Promise<void> {
      await installation.storage.inTransaction(async (tx) => {
        const endpoint = await installation.storage.webhooks.lockEndpoint(tx, id);
        if (endpoint === null) throw new Error("There is no such endpoint.");
        const sealedSecret = `${endpoint.sealedSecret.slice(0, -4)}AAAA`;
        await installation.storage.webhooks.saveEndpoint(tx, { ...endpoint, sealedSecret });
      });
    }

    it("activates a new key, still accepts the old one, and stores both in the file", async () => {
      const before = here.keyring.current("audio-links").id;
      const state = await here.secrets.rotate();
      expect(state).to.deep.equal({
        current: state.current,
        previous: before,
        unnamed: null,
        rotatedAt: installation.clock.now(),
      });
      expect(here.keyring.current("audio-links").id).to.equal(state.current).and.not.equal(before);
      expect(await new SecretKeyFile(installation.dataDir).load()).to.deep.equal([state.current, before]);
      expect((await here.keyring.find("audio-links", before))?.id).to.equal(before);
    });

    it("refuses a second rotation before the old key is retired, and does not change the file", async () => {
      await here.secrets.rotate();
      const file = await readFile(join(installation.dataDir, "secret.key"), "utf8");
      expect(await refusalOf(there.secrets.rotate())).to.include("Two keys are in force already");
      expect(await readFile(join(installation.dataDir, "secret.key"), "utf8")).to.equal(file);
    });

    it("rotates once, however many requests arrive at once", async () => {
      const results = await Promise.all([here, there, here, there].map(({ secrets }) => refusalOf(secrets.rotate())));
      expect(results.filter((result) => result === "DONE")).to.have.length(1);
      const { current } = (await here.states.find()) ?? { current: "none" };
      expect((await new SecretKeyFile(installation.dataDir).load())[0]).to.equal(current);
    });

    it("reseals everything with the new key and changes no secret of an endpoint", async () => {
      const secrets = [(await addEndpoint(here, "a")).secret, (await addEndpoint(there, "b")).secret];
      const { endpoint, secret: third } = await here.endpoints.create(installation.accountId, "https://c.example.com/");
      const { secret: newThird } = await here.operate.rotateSecret(endpoint.id, 3_600_000);
      const signedBefore = await signingSecrets(here);
      expect(signedBefore).to.deep.equal([[secrets[0]], [secrets[1]], [newThird, third]]);
      const { current, previous } = await here.secrets.rotate();
      expect(new Set(await sealedWith())).to.deep.equal(new Set([previous]));
      const task = resealTask({
        states: here.states,
        reseal: here.reseal,
        clock: installation.clock,
        logger: installation.logger,
      });
      await task.run(signal);
      expect(await sealedWith()).to.deep.equal([current, current, current, current]);
      expect(await signingSecrets(here)).to.deep.equal(signedBefore);
    });

    it("lets a process that has not yet noticed the rotation open what is sealed with the new key", async () => {
      const { secret } = await addEndpoint(here, "a");
      await here.secrets.rotate();
      await here.reseal.execute(here.keyring.current("webhook-secrets").id, signal);
      await installation.clock.advance(1_000);
      expect(await signingSecrets(there)).to.deep.equal([[secret]]);
    });

    it("continues where a pass was interrupted", async () => {
      for (const name of ["a", "b", "c"]) await addEndpoint(here, name);
      const { current, previous } = await here.secrets.rotate();
      const stopping = new AbortController();
      const { webhooks } = installation.storage;
      const saved = webhooks.saveEndpoint.bind(webhooks);
      webhooks.saveEndpoint = async (...args) => {
        stopping.abort();
        await saved(...args);
      };
      expect(await here.reseal.execute(current, stopping.signal)).to.deep.equal({ resealed: 1, failed: [] });
      expect((await sealedWith()).filter((id) => id === previous)).to.have.length(2);
      webhooks.saveEndpoint = saved;
      expect(await there.reseal.count()).to.have.property("size", 2);
      expect(await here.reseal.execute(current, signal)).to.deep.equal({ resealed: 2, failed: [] });
      expect(await here.reseal.execute(current, signal)).to.deep.equal({ resealed: 0, failed: [] });
    });

    it("shows by how many rows each key is needed", async () => {
      for (const name of ["a", "b"]) await addEndpoint(here, name);
      const { current, previous } = await here.secrets.rotate();
      await addEndpoint(here, "c");
      expect((await here.secrets.status()).keys).to.deep.equal([
        { id: current, role: "current", sealedRows: 1 },
        { id: previous, role: "previous", sealedRows: 2 },
      ]);
    });

    it("retires the old key when nothing needs it, in the file too", async () => {
      const { secret } = await addEndpoint(here, "a");
      const { current, previous } = await here.secrets.rotate();
      const retired = await here.secrets.retire(GENTLE, signal);
      expect(retired).to.deep.include({ retired: [previous], lost: [] });
      expect(await new SecretKeyFile(installation.dataDir).load()).to.deep.equal([current]);
      expect(await here.keyring.find("audio-links", previous ?? "")).to.equal(null);
      expect(await signingSecrets(here)).to.deep.equal([[secret]]);
      expect(await refusalOf(here.secrets.retire(GENTLE, signal))).to.include("There is nothing to retire");
    });

    it("refuses to retire a key while rows cannot be resealed, unless forced, and names those rows", async () => {
      const { endpoint } = await here.endpoints.create(installation.accountId, "https://a.example.com/");
      const { secret } = await addEndpoint(here, "b");
      await spoil(endpoint.id);
      const { current, previous } = await here.secrets.rotate();
      const refusal = await refusalOf(here.secrets.retire(GENTLE, signal));
      expect(refusal).to.include("still sealed with the old key").and.include(`(1): ${endpoint.id}.`);
      expect((await here.keyring.find("audio-links", previous ?? ""))?.id).to.equal(previous);
      expect((await new SecretKeyFile(installation.dataDir).load()).length).to.equal(2);
      expect(await here.secrets.retire({ force: true }, signal)).to.deep.include({
        retired: [previous],
        lost: [endpoint.id],
      });
      expect(await here.keyring.find("audio-links", previous ?? "")).to.equal(null);
      const { secret: fresh } = await here.operate.rotateSecret(endpoint.id, 0);
      expect(await signingSecrets(here)).to.deep.equal([[fresh], [secret]]);
      expect(new Set(await sealedWith())).to.deep.equal(new Set([current]));
    });

    it("writes nothing under a key that was retired meanwhile, even from a process that has not noticed", async () => {
      await here.secrets.rotate();
      await here.secrets.retire(GENTLE, signal);
      // `there` has noticed neither, and would seal with the first key.
      const error = await addEndpoint(there, "a").catch((refusal: Error) => refusal);
      expect(error).to.have.property("code", "service_unavailable");
      expect(await sealedWith()).to.deep.equal([]);
      await there.keyring.refresh();
      await addEndpoint(there, "a");
      expect(await sealedWith()).to.deep.equal([here.keyring.current("webhook-secrets").id]);
    });

    it("rotates by settings: when the first process lists a new key before the old one", async () => {
      const [first, second] = [newSecretKey(), newSecretKey()];
      const other = await Installation.open(kind);
      try {
        const old = await other.process(new SettingsSecretKeys([first]));
        expect(await refusalOf(old.secrets.rotate()))
          .to.include("secrets.previousKey")
          .and.include("openssl rand");
        const aware = await other.process(new SettingsSecretKeys([first, second]));
        expect(aware.keyring.current("audio-links").id).to.equal(fingerprint(first));
        const changed = await other.process(new SettingsSecretKeys([second, first]));
        expect(changed.keyring.current("audio-links").id).to.equal(fingerprint(second));
        await aware.keyring.refresh();
        expect(aware.keyring.current("audio-links").id).to.equal(fingerprint(second));
        await old.keyring.refresh();
        expect(old.keyring.current("audio-links").id).to.equal(fingerprint(first));
        expect(await refusalOf(other.process(new SettingsSecretKeys([first])))).to.include("Set that key again");
        await changed.secrets.retire(GENTLE, signal);
        expect(await changed.keyring.find("audio-links", fingerprint(first))).to.equal(null);
        await other.process(new SettingsSecretKeys([second]));
      } finally {
        await other.close();
      }
    });

    it("opens and reseals what a version without key ids has sealed", async () => {
      const old = newSecretKey();
      const before = await Installation.open(kind);
      try {
        await before.storage.installation.keepFirst(FIRST_KEY, fingerprint(old));
        const process = await before.process(new SettingsSecretKeys([old]));
        expect(await process.keyring.find("audio-links", "none")).to.deep.equal({ id: "none", key: old });
        const { endpoint, secret } = await process.endpoints.create(before.accountId, "https://a.example.com/");
        const unnamed = oldSeal(old, secret, endpoint.id);
        await before.storage.inTransaction((tx) =>
          before.storage.webhooks.saveEndpoint(tx, { ...endpoint, sealedSecret: unnamed, retiredSecrets: [] }),
        );
        expect((await process.secrets.status()).keys).to.deep.include({ id: "none", role: "accepted", sealedRows: 1 });
        const { retired, lost } = await process.secrets.retire(GENTLE, signal);
        expect([retired, lost]).to.deep.equal([[], []]);
        expect(await process.keyring.find("audio-links", "none")).to.equal(null);
        await process.operate.ping(endpoint.id, signal);
        expect(before.sender.messages.at(-1)?.secrets).to.deep.equal([secret]);
      } finally {
        await before.close();
      }
    });
  });
}
