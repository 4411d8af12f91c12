import type { VNode } from "preact";
import { route } from "../../parts/route.js";
import { AccountPage } from "../accounts/account-page.js";
import { AccountList } from "../accounts/account-list.js";
import { AuditLog } from "../installation/audit-log.js";
import { Doctor } from "../installation/doctor.js";
import { Settings } from "../installation/settings.js";
import { Tokens } from "../installation/tokens.js";
import { JobList } from "../jobs/job-list.js";
import { JobPage } from "../jobs/job-page.js";
import { Overview } from "../overview/overview.js";
import { Margin } from "../providers/margin.js";
import { Models } from "../providers/models.js";
import { Providers } from "../providers/providers.js";
import { EndpointList } from "../webhooks/endpoint-list.js";
import { EndpointPage } from "../webhooks/endpoint-page.js";
import { View } from "./view.js";

/** By the first part of the address; the others and the query are handed on. */
const VIEWS: Readonly<Record<string, (parts: readonly string[], query: URLSearchParams) => VNode>> = {
  "": (_, query) => <Overview query={query} />,
  jobs: ([id], query) => (id === undefined ? <JobList query={query} /> : <JobPage key={id} id={id} />),
  accounts: ([id, tab = "keys"], query) =>
    id === undefined ? <AccountList query={query} /> : <AccountPage key={id} id={id} tab={tab} query={query} />,
  webhooks: ([id], query) =>
    id === undefined ? <EndpointList query={query} /> : <EndpointPage key={id} id={id} query={query} />,
  providers: () => <Providers />,
  models: () => <Models />,
  margin: (_, query) => <Margin query={query} />,
  doctor: () => <Doctor />,
  settings: (_, query) => <Settings query={query} />,
  audit: (_, query) => <AuditLog query={query} />,
  tokens: () => <Tokens />,
};

/** The view that the address names. */
export function Page() {
  const { parts, query } = route.value;
  const [name = "", ...others] = parts;
  const view = VIEWS[name];
  if (view !== undefined) return view(others, query);
  return (
    <View title="Not found">
      <p>
        There is no such view. <a href="#/">Go to the overview</a>.
      </p>
    </View>
  );
}
