import type { Views } from "../shell/section.js";
import { AuditLog } from "./audit-log.js";
import { Doctor } from "./doctor.js";
import { Maintenance } from "./maintenance.js";
import { Settings } from "./settings.js";
import { Tokens } from "./tokens.js";

export const views: Views = {
  doctor: () => <Doctor />,
  maintenance: () => <Maintenance />,
  settings: (_, query) => <Settings query={query} />,
  audit: (_, query) => <AuditLog query={query} />,
  tokens: () => <Tokens />,
};
