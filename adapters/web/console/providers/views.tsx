import type { Views } from "../shell/section.js";
import { Margin } from "./margin.js";
import { Models } from "./models.js";
import { Providers } from "./providers.js";

export const views: Views = {
  providers: () => <Providers />,
  models: () => <Models />,
  margin: (_, query) => <Margin query={query} />,
};
