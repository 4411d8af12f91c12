import { limitHeapGrowth } from "./heap-growth.js";
import { run } from "./run.js";
import { traceSources } from "./stack-traces.js";

/** Short, since a stop has 10 s in all, and {@link run} may have used nearly all of them. */
const LINGER_MAX_MS = 400;

traceSources();

// The reader of the output may close the pipe early, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

limitHeapGrowth();
process.exitCode = await run(process.argv.slice(2), process);

// Everything is closed by now. A plugin that does not hear of a stop may hold a timer or a socket still, and the
// process with it.
setTimeout(() => process.stdout.write("", () => process.exit()), LINGER_MAX_MS).unref();
