import { useResource } from "../../parts/resource.js";
import { type Column } from "../../parts/table.js";
import { admin, read, type Schemas } from "../api.js";
import { Empty, Listed, State } from "../shown.js";
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
  const resource = useResource((signal) => read(admin.GET("/admin/v1/models", { signal })), []);
  return (
    <View title="Models" lead="What callers can choose, and what it costs them.">
      <Listed
        caption="Models"
        columns={COLUMNS}
        of={resource}
        rows={({ models }) => models}
        keyOf={({ id }) => id}
        empty={<Empty title="No models">Switch a provider on in the settings.</Empty>}
      />
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
