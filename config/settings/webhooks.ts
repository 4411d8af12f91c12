/** Settings of webhooks, and of whatever else goes to addresses that callers or providers name. */
import type { Group } from "./definition.js";
import * as kind from "./kinds.js";
import { isHostName, isNetwork } from "./network-values.js";

export const webhooks = {
  scheduleSeconds: kind.numbers({
    default: [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400],
    min: 0,
    max: 604_800,
    lengthMax: 50,
    unit: "seconds",
    description: "Waits between the attempts of a delivery; there is one attempt more than waits",
  }),
  timeoutSeconds: kind.duration({
    default: 15,
    max: 300,
    unit: "seconds",
    description: "The longest that one attempt may take",
  }),
  allowNetworks: kind.list({
    default: [],
    items: "CIDR networks",
    accepts: isNetwork,
    description: "Networks that webhooks and provider downloads may reach although they are not public",
  }),
  allowHosts: kind.list({
    default: [],
    items: "host names",
    accepts: isHostName,
    description: "Names that webhooks and provider downloads may reach although they are blocked",
  }),
  allowHttp: kind.flag({
    default: false,
    description: "Whether webhook URLs may be plain http, and provider downloads",
  }),
} as const satisfies Group;
