import type { Views } from "../shell/section.js";
import { Overview } from "./overview.js";

export const views: Views = { "": (_, query) => <Overview query={query} /> };
