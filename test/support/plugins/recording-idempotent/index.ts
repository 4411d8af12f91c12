import { recordingProvider } from "../recording/provider.js";

/** The same with an idempotency key: what was submitted twice is made once. */
export default recordingProvider("recording-idempotent", { idempotentSubmit: true });
