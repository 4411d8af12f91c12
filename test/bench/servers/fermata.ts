/**
 * Serves the API of the data directory given as argument, without workers; of the storage given after it, if any, with
 * the replica after that.
 */
import { openFermata } from "../installation.js";
import { serve } from "./child.js";

const [, , dataDir = "", storageUrl, readUrl] = process.argv;
const { app } = await openFermata(dataDir, {}, { storageUrl, readUrl });
const { url } = await app.listen();
serve(url, () => app.stop());
