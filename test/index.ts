/**
 * `fermata-music/testing`: doubles, builders and fakes for tests of apps that embed Fermata, of adapters and of
 * plugins. It loads nothing but the package's dependencies; the contract suites are in
 * `fermata-music/testing/contracts`.
 */
export * from "./support/builders.js";
export * from "./support/webhook-builders.js";
export { FaultyPort, type PortFault } from "./support/doubles/faulty-port.js";
export { FixedKeyring } from "./support/doubles/fixed-keyring.js";
export { ManualClock } from "./support/doubles/manual-clock.js";
export { ManualRandom } from "./support/doubles/manual-random.js";
export { MemoryAudioStore } from "./support/doubles/memory-audio-store.js";
export { type LogLine, RecordingLogger } from "./support/doubles/recording-logger.js";
export { RecordingMetrics } from "./support/doubles/recording-metrics.js";
export { type EndedSpan, RecordingTracer } from "./support/doubles/recording-tracer.js";
export {
  type Reception,
  RecordingSender,
  sendFails,
  sendHolds,
  sendReturns,
} from "./support/doubles/recording-sender.js";
export * from "./support/doubles/scripted-provider.js";
export { StubGuard } from "./support/doubles/stub-guard.js";
export {
  type CertificateKind,
  FaultReceiver,
  type FaultReceiverOptions,
  type ReceivedRequest,
  type ServerKind,
} from "./support/fault-receiver/receiver.js";
export { cutting, FileHost, type Handler, responding, serving } from "./support/file-host.js";
export * from "./support/provider-kit/index.js";
