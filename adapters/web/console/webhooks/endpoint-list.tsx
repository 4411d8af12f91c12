import { Pager } from "../../parts/links.js";
import { useResource } from "../../parts/resource.js";
import { admin, read } from "../api.js";
import { given, pagesOf } from "../filter.js";
import { Empty, Listed } from "../shown.js";
import { View } from "../shell/view.js";
import { ALL_ENDPOINT_COLUMNS } from "./endpoint-columns.js";

const PATH = "/webhooks";
const PAGE = 50;

/** The endpoints of all accounts. */
export function EndpointList({ query }: { readonly query: URLSearchParams }) {
  const resource = useResource(
    (signal) =>
      read(
        admin.GET("/admin/v1/webhook-endpoints", {
          signal,
          params: { query: { ...given(query, "after"), limit: PAGE } },
        }),
      ),
    [query.toString()],
  );
  const { first, next } = pagesOf(PATH, query, resource.data?.webhook_endpoints, PAGE);
  return (
    <View title="Webhooks" lead="Where accounts are notified of ended jobs, in the order of registration.">
      <Listed
        caption="Webhook endpoints"
        columns={ALL_ENDPOINT_COLUMNS}
        of={resource}
        rows={({ webhook_endpoints }) => webhook_endpoints}
        keyOf={({ id }) => id}
        empty={<Empty title="No endpoints">Accounts register them through the API.</Empty>}
      />
      <Pager first={first} next={next} back="First" on="More" />
    </View>
  );
}
