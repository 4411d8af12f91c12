import { expect } from "chai";
import { SystemClock } from "../../adapters/system/clock.js";
import { SystemRandom } from "../../adapters/system/random.js";
import { adapterIssues, openedIssues } from "../../config/adapters/definition-issues.js";
import type { AdapterDefinition, AdapterHost, AdapterPort, AdapterPorts } from "../../core/ports/adapter.js";
import { withDefaults } from "../../core/providers/setting-defaults.js";
import { RecordingLogger } from "../support/doubles/recording-logger.js";
import { storageUnderTest, type StorageUnderTest } from "../support/storage-under-test.js";
import { accountStoreContract } from "./account-store.contract.js";
import { audioStoreContract } from "./audio-store.contract.js";
import { auditLogContract } from "./audit-log.contract.js";
import { callbackStoreContract } from "./callback-store.contract.js";
import { idempotencyStoreContract } from "./idempotency-store.contract.js";
import { installationStoreContract } from "./installation-store.contract.js";
import { jobQueueContract } from "./job-queue.contract.js";
import { jobStoreContract } from "./job-store.contract.js";
import { ledgerStoreContract } from "./ledger-store.contract.js";
import { libraryStoreContract } from "./library-store.contract.js";
import { adminTokenStoreContract } from "./admin-token-store.contract.js";
import { providerHealthStoreContract } from "./provider-health-store.contract.js";
import { providerLimitsContract } from "./provider-limits.contract.js";
import { rateCountStoreContract } from "./rate-count-store.contract.js";
import { requestLogStoreContract } from "./request-log-store.contract.js";
import { selfCheckContract } from "./self-check.contract.js";
import { unitOfWorkContract } from "./unit-of-work.contract.js";
import { uploadStoreContract } from "./upload-store.contract.js";
import { webhookStoreContract } from "./webhook-store.contract.js";

/** An empty place for tests, such as a new database or folder. The suite fills it. */
export interface AdapterPlace {
  /** As in the settings, with an absolute path. */
  readonly url: string;
  /** The adapter's own settings; the defaults of the others are added. */
  readonly settings?: AdapterHost["settings"];
}

const STORAGE_SUITES: readonly ((name: string, open: () => Promise<StorageUnderTest>) => void)[] = [
  // These two need a storage that is empty, and come first.
  auditLogContract,
  accountStoreContract,
  unitOfWorkContract,
  ledgerStoreContract,
  idempotencyStoreContract,
  jobStoreContract,
  callbackStoreContract,
  libraryStoreContract,
  adminTokenStoreContract,
  providerHealthStoreContract,
  providerLimitsContract,
  rateCountStoreContract,
  requestLogStoreContract,
  installationStoreContract,
  uploadStoreContract,
  webhookStoreContract,
];

/**
 * The promises of every adapter that the settings can choose: its definition, the suites of its port, its check. It
 * runs them at a place that is given, as `fermata adapters check` does.
 *
 * @param definition what the adapter's package exports
 * @example
 * function testQueue(redisQueue: AdapterDefinition): void {
 *   adapterContract("RedisQueue", redisQueue, { url: "redis://127.0.0.1:6379/15" });
 * }
 */
export function adapterContract(name: string, definition: AdapterDefinition, place: AdapterPlace): void {
  const { port, settings: declared, check } = definition;
  const host: AdapterHost = {
    url: place.url,
    settings: withDefaults(declared, place.settings ?? {}),
    logger: new RecordingLogger(),
    clock: new SystemClock(),
    random: new SystemRandom(),
  };

  describe(`Adapter contract: ${name}`, () => {
    it("is a definition that can be loaded", () => {
      expect(adapterIssues(definition)).to.deep.equal([]);
    });

    it("opens what has every method of its port", async () => {
      const opened = await definition.open(host);
      try {
        expect(openedIssues(port, opened)).to.deep.equal([]);
      } finally {
        if ("close" in opened) await opened.close?.();
      }
    });
  });

  const open = async <Port extends AdapterPort>(_port: Port): Promise<AdapterPorts[Port]> =>
    (await definition.open(host)) as AdapterPorts[Port];
  PORT_SUITES[port](name, open);
  if (check === undefined) return;
  selfCheckContract(name, () =>
    Promise.resolve({
      check: () => check.call(definition, { ...host, dataDir: "/nonexistent", providerIds: ["synth"] }),
      secrets: secretsOf(definition, host),
      close: () => Promise.resolve(),
    }),
  );
}

type Open = <Port extends AdapterPort>(port: Port) => Promise<AdapterPorts[Port]>;

const PORT_SUITES: Readonly<Record<AdapterPort, (name: string, open: Open) => void>> = {
  queue: (name, open) => jobQueueContract(name, () => open("queue")),
  audio: (name, open) =>
    audioStoreContract(name, async () => {
      const store = await open("audio");
      return { store, givesLinks: store.linkTo !== undefined, close: async () => store.close?.() };
    }),
  storage: (name, open) => {
    for (const suite of STORAGE_SUITES)
      suite(name, async () => {
        const storage = await open("storage");
        await storage.schema?.migrate();
        return storageUnderTest(storage.stores, async () => storage.close?.());
      });
  },
};

function secretsOf({ settings: declared }: AdapterDefinition, { url, settings }: AdapterHost): string[] {
  const own = Object.keys(declared).filter((name) => declared[name]?.secret === true);
  const { username = "", password = "" } = URL.canParse(url) ? new URL(url) : {};
  // One that equals the user's name would be found where that is shown.
  const ofUrl = password === username ? "" : decodeURIComponent(password);
  return [...own.map((name) => String(settings[name] ?? "")), ofUrl].filter((secret) => secret !== "");
}
