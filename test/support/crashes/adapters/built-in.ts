import { BUILT_IN_ADAPTERS } from "../../../../config/adapters/built-in.js";
import { type AdapterDefinition, type AdapterPort, type AdapterPorts } from "../../../../core/ports/adapter.js";

/** Every built-in adapter of a port, as one definition, with `around` put on what it opens. */
export function surrounded<Port extends AdapterPort>(
  port: Port,
  around: (opened: AdapterPorts[Port]) => AdapterPorts[Port],
): AdapterDefinition {
  const adapters = BUILT_IN_ADAPTERS.filter((adapter) => adapter.port === port);
  const [first] = adapters;
  if (first === undefined) throw new Error(`There is no adapter of ${port}.`);
  return {
    ...first,
    schemes: Object.assign({}, ...adapters.map(({ schemes }) => schemes)) as AdapterDefinition["schemes"],
    settings: Object.assign({}, ...adapters.map(({ settings }) => settings)) as AdapterDefinition["settings"],
    async open(host) {
      const scheme = host.url.slice(0, host.url.indexOf(":"));
      const chosen = adapters.find(({ schemes }) => scheme in schemes) ?? first;
      return around((await chosen.open(host)) as AdapterPorts[Port]);
    },
  };
}
