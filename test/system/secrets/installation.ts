import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoredKeyring } from "../../../adapters/crypto/keyring.js";
import { NodeDigest } from "../../../adapters/crypto/digest.js";
import { AesSecretBox } from "../../../adapters/crypto/secret-box.js";
import { type ReadableSecretKeys, SecretKeyFile } from "../../../adapters/crypto/secret-keys.js";
import type { AccountId } from "../../../core/ids.js";
import type { KeyState } from "../../../core/secrets/key-state.js";
import { KeyStates } from "../../../core/secrets/key-states.js";
import { ResealSecrets } from "../../../core/secrets/reseal.js";
import { RotateSecrets } from "../../../core/secrets/rotate-secrets.js";
import { ManageEndpoints } from "../../../core/webhooks/manage-endpoints.js";
import { OperateWebhooks } from "../../../core/webhooks/operate-webhooks.js";
import { SendDelivery } from "../../../core/webhooks/send-delivery.js";
import { anId } from "../../support/builders.js";
import type { StorageKind } from "../../support/databases.js";
import type { StorageUnderTest } from "../../support/storage-under-test.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { unrecorded } from "../../../core/audit/unrecorded.js";
import { ManualRandom } from "../../support/doubles/manual-random.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";
import { RecordingSender } from "../../support/doubles/recording-sender.js";
import { StubGuard } from "../../support/doubles/stub-guard.js";

/** The parts of one process of an installation. */
export interface InstallationProcess {
  readonly states: KeyStates;
  readonly keyring: StoredKeyring;
  readonly secretBox: AesSecretBox;
  readonly reseal: ResealSecrets;
  readonly secrets: RotateSecrets;
  readonly endpoints: ManageEndpoints;
  readonly operate: OperateWebhooks;
  readonly sendDelivery: SendDelivery;
}

/** One storage and one data directory, on which processes are opened. None notices changes by itself. */
export class Installation {
  readonly clock = new ManualClock();
  readonly logger = new RecordingLogger();
  readonly sender = new RecordingSender();
  private readonly random = new ManualRandom();

  private constructor(
    readonly storage: StorageUnderTest,
    readonly dataDir: string,
    readonly accountId: AccountId,
  ) {}

  static async open({ open }: StorageKind): Promise<Installation> {
    const storage = await open();
    const dataDir = await mkdtemp(join(tmpdir(), "fermata-secrets-"));
    return new Installation(storage, dataDir, (await storage.addAccount()).id);
  }

  async close(): Promise<void> {
    await this.storage.close();
    await rm(this.dataDir, { recursive: true });
  }

  /** @param keys those of the data directory by default */
  async process(keys: ReadableSecretKeys = new SecretKeyFile(this.dataDir)): Promise<InstallationProcess> {
    const { clock, logger, random, sender } = this;
    const { unitOfWork, webhooks, installation } = this.storage;
    const states = new KeyStates({ installation, unitOfWork });
    const state: KeyState = await states.open(keys, clock.now());
    const deps = { readKeys: () => keys.read(), readState: () => states.find(), clock, logger };
    const keyring = await StoredKeyring.open(deps, state);
    const secretBox = new AesSecretBox(keyring);
    const reseal = new ResealSecrets({ unitOfWork, webhooks, secretBox, states, clock, logger });
    const refreshKeyring = (): Promise<void> => keyring.refresh();
    const secrets = new RotateSecrets({
      unitOfWork,
      audit: unrecorded(unitOfWork),
      states,
      keys,
      reseal,
      clock,
      refreshKeyring,
    });
    const ids = { next: anId };
    const parts = { unitOfWork, webhooks, guard: new StubGuard(), secretBox, sealKeys: states, clock, ids, random };
    const endpoints = new ManageEndpoints({ ...parts, logger, digest: new NodeDigest(), allowHttp: false });
    const sendDelivery = new SendDelivery({ sender, secretBox, clock, metrics: null, tracer: null });
    const operate = new OperateWebhooks({ ...parts, endpoints, audit: unrecorded(unitOfWork), sendDelivery });
    return { states, keyring, secretBox, reseal, secrets, endpoints, operate, sendDelivery };
  }
}
