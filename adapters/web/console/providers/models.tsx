import { useResource } from "../../parts/resource.js";
import { type Column, Table } from "../../parts/table.js";
import { admin, read, type Schemas } from "../api.js";
import { Retry, State } from "../shown.js";
import { View } from "../shell/view.js";
import { counted } from "../words.js";

type Model = Schemas["Model"];

const COLUMNS: readonly Column<Model>[] = [
  {
    head: "Model",
    kind: "main",
    cell: ({ id, name }) => (
      <>
        <strong>{name}</strong>
        <small>{id}</small>
      </>
    ),
  },
  { head: "State", cell: ({ status }) => <State of={status} /> },
  { head: "Provider", cell: ({ provider_label: label }) => label },
  { head: "Price", kind: "number", cell: ({ credit_cost: cost }) => counted(cost, "credit") },
  { head: "Takes", cell: (model) => takes(model) },
];

/** What callers can choose. */
export function Models() {
  const { data, error, reload, isLoading } = useResource(
    (signal) => read(admin.GET("/admin/v1/models", { signal })),
    [],
  );
  return (
    <View title="Models" lead="What callers can choose, and what it costs them.">
      {error === undefined ? null : <Retry error={error} reload={reload} isLoading={isLoading} />}
      {error !== undefined && data === undefined ? null : (
        <Table
          caption="Models"
          columns={COLUMNS}
          rows={data?.models}
          keyOf={({ id }) => id}
          empty={
            <>
              <strong>No models</strong>
              Switch a provider on in the settings.
            </>
          }
        />
      )}
    </View>
  );
}

function takes({ supports_lyrics: lyrics, supports_instrumental: instrumental, options, references }: Model): string {
  return [
    ...(lyrics ? ["lyrics"] : []),
    ...(instrumental ? ["instrumental"] : []),
    ...options.map(({ name }) => name.replaceAll("_", " ")),
    ...references.map(({ mode }) => mode),
  ].join(", ");
}
