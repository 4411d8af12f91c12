import { useResource } from "../../parts/resource.js";
import { Table } from "../../parts/table.js";
import { admin, read } from "../api.js";
import { Retry } from "../shown.js";
import { Section } from "../shell/view.js";
import { ENDPOINT_COLUMNS } from "../webhooks/endpoint-columns.js";

export function AccountEndpoints({ account }: { readonly account: string }) {
  const { data, error, reload, isLoading } = useResource(
    (signal) =>
      read(admin.GET("/admin/v1/accounts/{id}/webhook-endpoints", { signal, params: { path: { id: account } } })),
    [account],
  );
  return (
    <Section title="Webhooks">
      {error === undefined ? null : <Retry error={error} reload={reload} isLoading={isLoading} />}
      {error !== undefined && data === undefined ? null : (
        <Table
          caption="Webhook endpoints"
          columns={ENDPOINT_COLUMNS}
          rows={data?.webhook_endpoints}
          keyOf={({ id }) => id}
          empty={
            <>
              <strong>No endpoints</strong>
              The account registers them through the API.
            </>
          }
        />
      )}
    </Section>
  );
}
