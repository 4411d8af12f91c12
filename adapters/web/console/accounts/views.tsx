import type { Views } from "../shell/section.js";
import { AccountList } from "./account-list.js";
import { AccountPage } from "./account-page.js";

export const views: Views = {
  accounts: ([id, tab = "keys"], query) =>
    id === undefined ? <AccountList query={query} /> : <AccountPage key={id} id={id} tab={tab} query={query} />,
};
