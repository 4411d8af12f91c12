import { useResource } from "../../parts/resource.js";
import { admin, read } from "../api.js";
import { Empty, Listed } from "../shown.js";
import { Section } from "../shell/view.js";
import { ENDPOINT_COLUMNS } from "../webhooks/endpoint-columns.js";

export function AccountEndpoints({ account }: { readonly account: string }) {
  const resource = useResource(
    (signal) =>
      read(admin.GET("/admin/v1/accounts/{id}/webhook-endpoints", { signal, params: { path: { id: account } } })),
    [account],
  );
  return (
    <Section title="Webhooks">
      <Listed
        caption="Webhook endpoints"
        columns={ENDPOINT_COLUMNS}
        of={resource}
        rows={({ webhook_endpoints }) => webhook_endpoints}
        keyOf={({ id }) => id}
        empty={<Empty title="No endpoints">The account registers them through the API.</Empty>}
      />
    </Section>
  );
}
