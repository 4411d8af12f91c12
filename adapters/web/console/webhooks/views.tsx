import type { Views } from "../shell/section.js";
import { EndpointList } from "./endpoint-list.js";
import { EndpointPage } from "./endpoint-page.js";

export const views: Views = {
  webhooks: ([id], query) =>
    id === undefined ? <EndpointList query={query} /> : <EndpointPage key={id} id={id} query={query} />,
};
