import { Button } from "../../parts/elements.js";
import { route } from "../../parts/route.js";
import { Loading } from "../../parts/table.js";
import { type LoadViews, useSection } from "./section.js";
import { View } from "./view.js";

const PROVIDERS: LoadViews = () => import("../providers/views.js");
const INSTALLATION: LoadViews = () => import("../installation/views.js");

/** By the first part of the address. */
const SECTIONS: Readonly<Record<string, LoadViews>> = {
  "": () => import("../overview/views.js"),
  jobs: () => import("../jobs/views.js"),
  accounts: () => import("../accounts/views.js"),
  music: () => import("../music/views.js"),
  webhooks: () => import("../webhooks/views.js"),
  providers: PROVIDERS,
  models: PROVIDERS,
  margin: PROVIDERS,
  doctor: INSTALLATION,
  maintenance: INSTALLATION,
  settings: INSTALLATION,
  audit: INSTALLATION,
  tokens: INSTALLATION,
};

/** The view that the address names. */
export function Page() {
  const [name = ""] = route.value.parts;
  const load = SECTIONS[name];
  if (load !== undefined) return <SectionPage name={name} load={load} />;
  return (
    <View title="Not found">
      <p>
        There is no such view. <a href="#/">Go to the overview</a>.
      </p>
    </View>
  );
}

function SectionPage({ name, load }: { readonly name: string; readonly load: LoadViews }) {
  const { views, error } = useSection(load);
  const { parts, query } = route.value;
  if (error !== undefined) return <NotLoaded />;
  return views?.[name]?.(parts.slice(1), query) ?? <Loading />;
}

/** A server of another version has the section under another name: the page as a whole is read again then. */
function NotLoaded() {
  return (
    <View title="Not loaded">
      <p class="note bad" role="alert">
        This part of the console could not be loaded. The server cannot be reached, or runs another version by now.
      </p>
      <Button look="primary" onClick={() => location.reload()}>
        Reload
      </Button>
    </View>
  );
}
