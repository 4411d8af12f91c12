import { compose, loadSettings } from "fermata-music";

// No port is opened: jobs come from the storage and the queue that the settings name.
const fermata = await compose(loadSettings({ env: process.env, cwd: process.cwd() }), { actor: "worker" });
fermata.events.on("job.ended", ({ type, generation }) => console.log(type, generation.id, generation.creditsCharged));
await fermata.work();
console.log("working");
process.once("SIGTERM", () => void fermata.stop()); // what is running is finished, or left to another worker
