import { logbookProvider } from "../logbook/provider.js";

/** The same with an idempotency key: what was submitted twice is made once. */
export default logbookProvider("logbook-idempotent", { idempotentSubmit: true });
