import { recordingProvider } from "../logbook/provider.js";

/** The same with a search: a submission whose answer got lost is found, or was never there. */
export default recordingProvider("logbook-lookup", { lookup: true });
