import { useResource } from "../../parts/resource.js";
import { Facts } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { admin, read } from "../api.js";
import { IdLink, Loaded, WholeId } from "../shown.js";
import { View } from "../shell/view.js";
import { Deliveries } from "./deliveries.js";
import { EndpointActions } from "./endpoint-actions.js";
import { EndpointState } from "./endpoint-columns.js";

/** An endpoint with what was sent to it. */
export function EndpointPage({ id, query }: { readonly id: string; readonly query: URLSearchParams }) {
  const resource = useResource(
    (signal) => read(admin.GET("/admin/v1/webhook-endpoints/{id}", { signal, params: { path: { id } } })),
    [id],
  );
  const { data: endpoint, reload } = resource;
  return (
    <View
      title={endpoint === undefined ? "Endpoint" : endpoint.url}
      kind="Webhook:"
      parent={{ label: "Webhooks", href: "#/webhooks" }}
      lead={<WholeId id={id} />}
      actions={endpoint === undefined ? null : <EndpointActions endpoint={endpoint} onDone={reload} />}
    >
      <Loaded of={resource}>
        {(loaded) => (
          <>
            <div class="card">
              <Facts
                of={[
                  ["State", <EndpointState endpoint={loaded} />],
                  ["Account", <IdLink id={loaded.account} to="accounts" />],
                  ["Secret", <code>{loaded.signing_secret_prefix}…</code>],
                  ["Registered", loaded.created_at === null ? null : <Time at={loaded.created_at} />],
                  ["Disabled", loaded.disabled_at === null ? null : <Time at={loaded.disabled_at} />],
                ]}
              />
            </div>
            <Deliveries endpoint={id} query={query} onChange={reload} />
          </>
        )}
      </Loaded>
    </View>
  );
}
