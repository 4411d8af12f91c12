import { render } from "preact";
import "../parts/style.css";
import { dataOf } from "../parts/api-error.js";
import { ErrorNote } from "../parts/elements.js";
import { useResource } from "../parts/resource.js";
import { admin } from "./api.js";

function Console() {
  const { data, error } = useResource((signal) => dataOf(admin.GET("/admin/v1/me", { signal })), []);
  return (
    <main>
      <h1>Console</h1>
      {error === undefined ? null : <ErrorNote error={error} />}
      {data === undefined ? null : <p>{data.name}</p>}
    </main>
  );
}

const page = document.getElementById("page");
if (page !== null) render(<Console />, page);
