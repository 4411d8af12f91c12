import { recordingProvider } from "../logbook/provider.js";

/** The same with an idempotency key: what was submitted twice is made once. */
export default recordingProvider("logbook-idempotent", { idempotentSubmit: true });
