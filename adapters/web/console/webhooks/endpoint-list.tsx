import { Pager } from "../../parts/links.js";
import { useResource } from "../../parts/resource.js";
import { Table } from "../../parts/table.js";
import { admin, read } from "../api.js";
import { given, pagesOf } from "../filter.js";
import { Retry } from "../shown.js";
import { View } from "../shell/view.js";
import { ALL_ENDPOINT_COLUMNS } from "./endpoint-columns.js";

const PATH = "/webhooks";
const PAGE = 50;

/** The endpoints of all accounts. */
export function EndpointList({ query }: { readonly query: URLSearchParams }) {
  const { data, error, reload, isLoading } = useResource(
    (signal) =>
      read(
        admin.GET("/admin/v1/webhook-endpoints", {
          signal,
          params: { query: { ...given(query, "after"), limit: PAGE } },
        }),
      ),
    [query.toString()],
  );
  const { first, next } = pagesOf(PATH, query, data?.webhook_endpoints, PAGE);
  return (
    <View title="Webhooks" lead="Where accounts are notified of ended jobs, in the order of registration.">
      {error === undefined ? null : <Retry error={error} reload={reload} isLoading={isLoading} />}
      {error !== undefined && data === undefined ? null : (
        <Table
          caption="Webhook endpoints"
          columns={ALL_ENDPOINT_COLUMNS}
          rows={data?.webhook_endpoints}
          keyOf={({ id }) => id}
          empty={
            <>
              <strong>No endpoints</strong>
              Accounts register them through the API.
            </>
          }
        />
      )}
      <Pager first={first} next={next} back="First" on="More" />
    </View>
  );
}
