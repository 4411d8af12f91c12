import { recordingProvider } from "./provider.js";

/** A provider of the simplest kind: what became of a submission whose answer got lost, nobody can find out. */
export default recordingProvider("recording", {});
