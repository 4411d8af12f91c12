/** Starts a sandboxed process, prints its id, and waits to be killed. */
import { Sandbox } from "../../../adapters/sandbox/index.js";

const sandbox = new Sandbox({ handler: new URL(process.argv[2] ?? ""), processes: 1 });
const task = await sandbox.open();
const { pid } = (await task.ask({ kind: "report" })) as { readonly pid: number };
process.send?.(pid);
