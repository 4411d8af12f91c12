/** What Fermata gives to authors of adapters and to embedding teams for their own tests: contract suites, doubles, builders. */
export { addressGuardContract } from "./contract/address-guard.contract.js";
export { audioStoreContract } from "./contract/audio-store.contract.js";
export { clockContract } from "./contract/clock.contract.js";
export { jobQueueContract } from "./contract/job-queue.contract.js";
export { rateLimiterContract } from "./contract/rate-limiter.contract.js";
export { secretBoxContract } from "./contract/secret-box.contract.js";
export { aMessage, webhookSenderContract } from "./contract/webhook-sender.contract.js";
export * from "./support/builders.js";
export { ManualClock } from "./support/doubles/manual-clock.js";
export { ManualRandom } from "./support/doubles/manual-random.js";
export { RecordingLogger } from "./support/doubles/recording-logger.js";
export { ScriptedProvider } from "./support/doubles/scripted-provider.js";
export { answers, fails, holds, RecordingSender } from "./support/doubles/recording-sender.js";
export { StubGuard } from "./support/doubles/stub-guard.js";
export { FaultReceiver } from "./support/fault-receiver/receiver.js";
