/** Serves the API of the data directory given as argument, without workers. */
import { openFermata } from "../installation.js";
import { serve } from "./child.js";

const [, , dataDir = ""] = process.argv;
const { app } = await openFermata(dataDir);
const { url } = await app.listen();
serve(url, () => app.stop());
