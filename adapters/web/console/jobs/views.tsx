import type { Views } from "../shell/section.js";
import { JobList } from "./job-list.js";
import { JobPage } from "./job-page.js";

export const views: Views = {
  jobs: ([id], query) => (id === undefined ? <JobList query={query} /> : <JobPage key={id} id={id} />),
};
