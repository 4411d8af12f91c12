/** Serves the API of the data directory given as argument, without workers; of the storage given after it, if any. */
import { openFermata } from "../installation.js";
import { serve } from "./child.js";

const [, , dataDir = "", storageUrl] = process.argv;
const { app } = await openFermata(dataDir, {}, storageUrl);
const { url } = await app.listen();
serve(url, () => app.stop());
