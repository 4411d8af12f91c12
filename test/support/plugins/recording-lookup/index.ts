import { recordingProvider } from "../recording/provider.js";

/** The same with a search: a submission whose answer got lost is found, or was never there. */
export default recordingProvider("recording-lookup", { lookup: true });
