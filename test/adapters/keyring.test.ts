import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { StoredKeyring } from "../../adapters/crypto/keyring.js";
import { fingerprint } from "../../adapters/crypto/secret-key.js";
import { SecretKeyFile, SettingsSecretKeys } from "../../adapters/crypto/secret-keys.js";
import { subkeyOf } from "../../adapters/crypto/subkey.js";
import type { KeyState } from "../../core/secrets/key-state.js";
import { keyringContract } from "../contract/keyring.contract.js";
import { FixedKeyring } from "../support/doubles/fixed-keyring.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { RecordingLogger } from "../support/doubles/recording-logger.js";

const [A, B, C] = ["first", "second", "third"].map((name) => `the ${name} secret key, long enough for one`) as [
  string,
  string,
  string,
];
const ONE: KeyState = { current: fingerprint(A), previous: null, unnamed: fingerprint(A), rotatedAt: null };
const TWO: KeyState = { ...ONE, current: fingerprint(B), previous: fingerprint(A) };
const LAST: KeyState = { ...TWO, previous: null, unnamed: null };

/** A process with the secret keys and the key state that it reads. */
class KeyringHarness {
  readonly clock = new ManualClock();
  readonly logger = new RecordingLogger();
  state: KeyState = ONE;
  keys = [A];
  reads = 0;
  readonly keyring = StoredKeyring.open(
    {
      readKeys: () => Promise.resolve(new Map(this.keys.map((key) => [fingerprint(key), key]))),
      readState: () => {
        this.reads += 1;
        return Promise.resolve(this.state);
      },
      clock: this.clock,
      logger: this.logger,
    },
    this.state,
  );

  async change(state: KeyState, keys: string[]): Promise<void> {
    [this.state, this.keys] = [state, keys];
    await (await this.keyring).refresh();
  }
}

keyringContract("StoredKeyring", async () => {
  const harness = new KeyringHarness();
  return {
    keyring: await harness.keyring,
    rotate: () => harness.change(TWO, [B, A]),
    retire: () => harness.change(LAST, [B]),
    close: async () => (await harness.keyring).close(),
  };
});

keyringContract("FixedKeyring", () => {
  const keyring = new FixedKeyring(A);
  keyring.unnamed = A;
  return Promise.resolve({
    keyring,
    rotate: async () => void ([keyring.secretKey, keyring.previous] = [B, A]),
    retire: async () => void ([keyring.previous, keyring.unnamed] = [null, null]),
    close: () => Promise.resolve(),
  });
});

describe("StoredKeyring", () => {
  it("notices a rotation of another process within two seconds", async () => {
    const harness = new KeyringHarness();
    const keyring = await harness.keyring;
    keyring.start();
    [harness.state, harness.keys] = [TWO, [B, A]];
    expect(keyring.current("audio-links").id).to.equal(fingerprint(A));
    await harness.clock.advance(2_000);
    expect(keyring.current("audio-links").id).to.equal(fingerprint(B));
    await keyring.close();
  });

  it("finds a key that another process activated before it has noticed the rotation", async () => {
    const harness = new KeyringHarness();
    const keyring = await harness.keyring;
    [harness.state, harness.keys] = [TWO, [B, A]];
    await harness.clock.advance(500);
    expect(await keyring.find("webhook-secrets", fingerprint(B))).to.deep.equal(subkeyOf(B, "webhook-secrets"));
  });

  it("reads the state at most twice a second, however many unknown ids are looked up", async () => {
    const harness = new KeyringHarness();
    const keyring = await harness.keyring;
    for (let at = 0; at < 4; at++) {
      await harness.clock.advance(500);
      for (let created = 0; created < 25; created++)
        expect(await keyring.find("audio-links", `${at}${created}`)).to.equal(null);
    }
    expect(harness.reads).to.equal(4);
  });

  it("uses the previous key, and logs it once, while the active one is missing", async () => {
    const harness = new KeyringHarness();
    const keyring = await harness.keyring;
    await harness.change(TWO, [A]);
    await keyring.refresh();
    expect(keyring.current("audio-links").id).to.equal(fingerprint(A));
    const errors = harness.logger.lines.filter(({ level }) => level === "error");
    expect(errors.map(({ message }) => message)).to.deep.equal([
      "A secret key is in force that this process does not have; give it to this machine too",
    ]);
    await harness.change(TWO, [B, A]);
    expect(keyring.current("audio-links").id).to.equal(fingerprint(B));
  });

  it("writes no key to the log", async () => {
    const harness = new KeyringHarness();
    await harness.change(TWO, [A]);
    await harness.change(TWO, [B, A]);
    await harness.change(LAST, [B]);
    expect(harness.logger.lines).to.have.length.of.at.least(2);
    expect(JSON.stringify(harness.logger.lines)).to.not.include("secret key, long enough");
  });
});

describe("Subkeys", () => {
  it("are HKDF-SHA256 of the key by RFC 5869, with the purpose as info", () => {
    // RFC 5869, section 2, computed with HMAC-SHA256: no salt, the key as input, one block.
    expect(Buffer.from(subkeyOf("k".repeat(43), "audio-links").key).toString("hex")).to.equal(
      "23b0ec5bcb18ff88608a8bcbe0241b1bbdd6d596b89f297332b9dedcdb6d2941",
    );
  });
});

describe("SecretKeyFile", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "fermata-keys-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const written = (): Promise<string> => readFile(join(directory, "secret.key"), "utf8");

  it("adds a new key before the active one, and reuses one that was never activated", async () => {
    const file = new SecretKeyFile(directory);
    const [first] = await file.load();
    const added = await file.add([first as string]);
    expect(await file.load()).to.deep.equal([added, first]);
    const before = await written();
    expect(await file.add([first as string])).to.equal(added);
    expect(await written()).to.equal(before);
    expect((await stat(join(directory, "secret.key"))).mode & 0o777).to.equal(0o600);
    expect(await readdir(directory)).to.deep.equal(["secret.key"]);
  });

  it("does not reuse a retired key that a crash left in the file", async () => {
    const file = new SecretKeyFile(directory);
    const [retired] = await file.load();
    const current = await file.add([retired as string]);
    const added = await file.add([current]);
    expect(added).to.not.equal(retired);
    expect(await file.load()).to.deep.equal([added, current]);
  });

  it("removes the keys that are not kept, but never all of them", async () => {
    const file = new SecretKeyFile(directory);
    const [first] = await file.load();
    const added = await file.add([first as string]);
    expect(await file.keepOnly(["0".repeat(16)]).catch((error: Error) => error.message)).to.include("holds none");
    expect(await file.load()).to.deep.equal([added, first]);
    await file.keepOnly([added]);
    expect(await file.load()).to.deep.equal([added]);
  });

  it("reads a key wrapped over several lines, as openssl prints it", async () => {
    const wrapped = `${"x".repeat(64)}\n${"y".repeat(24)}`;
    await writeFile(join(directory, "secret.key"), `${wrapped}\n`);
    expect(await new SecretKeyFile(directory).load()).to.deep.equal([fingerprint(wrapped)]);
  });
});

describe("SettingsSecretKeys", () => {
  it("has the keys of the settings in order, and changes none", async () => {
    const keys = new SettingsSecretKeys([C, A]);
    expect(await keys.load()).to.deep.equal([fingerprint(C), fingerprint(A)]);
    expect([...(await keys.read()).values()]).to.deep.equal([C, A]);
    expect(await keys.add().catch((error: Error) => error.message)).to.include("settings");
  });
});
