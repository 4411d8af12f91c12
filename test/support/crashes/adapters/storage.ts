import type { OpenedStorage } from "../../../../core/ports/opened-storage.js";
import type { Stores } from "../../../../core/ports/stores.js";
import { boundary } from "../here.js";
import { surrounded } from "./built-in.js";

export default surrounded("storage", (opened): OpenedStorage => {
  const { renewLeases } = opened;
  const stores = Object.entries(opened.stores).map(([name, store]: [string, object]) => [
    name,
    boundary.around(name, store),
  ]);
  return {
    ...opened,
    stores: Object.fromEntries(stores) as Stores,
    ...(renewLeases === undefined
      ? {}
      : { renewLeases: (...given) => boundary.around("leaseRenewal", renewLeases(...given)) }),
  };
});
