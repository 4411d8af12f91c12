/** `completed` and `failed` are final. */
export type JobStatus = "queued" | "processing" | "completed" | "failed";
