import { useResource } from "../../parts/resource.js";
import type { Column } from "../../parts/table.js";
import { admin, read, type Schemas } from "../api.js";
import { Choice, Filters, Search } from "../filter.js";
import { Empty, Listed } from "../shown.js";
import { View } from "../shell/view.js";

type Setting = Schemas["AdminSetting"];
const PATH = "/settings";

const ORIGINS: Readonly<Record<Setting["origin"], string>> = {
  default: "default",
  file: "settings file",
  environment: "environment",
  app: "the app around it",
};

const COLUMNS: readonly Column<Setting>[] = [
  { head: "Setting", kind: "main", cell: ({ path }) => <code>{path}</code> },
  { head: "Value", cell: ({ value }) => <code>{typeof value === "string" ? value : JSON.stringify(value)}</code> },
  {
    head: "From",
    cell: ({ origin, source }) => (
      <>
        {ORIGINS[origin]}
        {source === null ? null : <small>{source}</small>}
      </>
    ),
  },
];

/** The settings in force, secrets masked. They are changed where they come from, and take effect with a start. */
export function Settings({ query }: { readonly query: URLSearchParams }) {
  const resource = useResource((signal) => read(admin.GET("/admin/v1/settings", { signal })), []);
  const where = { path: PATH, query };
  const wanted = query.get("search")?.toLowerCase() ?? "";
  const isChosen = query.get("origin") === "chosen";
  return (
    <View title="Settings" lead="In force in the process that serves this page. A change takes a restart.">
      <Filters label="Settings">
        <Search {...where} name="search" label="Find" hint="A part of the name" />
        <Choice
          {...where}
          name="origin"
          label="Show"
          choices={[
            ["", "All"],
            ["chosen", "Those that are not defaults"],
          ]}
        />
      </Filters>
      <Listed
        of={resource}
        rows={({ settings }) =>
          settings.filter(
            ({ path, origin }) => path.toLowerCase().includes(wanted) && (!isChosen || origin !== "default"),
          )
        }
        caption="Settings"
        columns={COLUMNS}
        keyOf={({ path }) => path}
        empty={<Empty title="No setting matches" />}
      />
    </View>
  );
}
