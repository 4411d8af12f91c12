import { render } from "preact";
import "../parts/style.css";
import createClient from "openapi-fetch";
import type { paths } from "../generated/api.js";
import { dataOf } from "../parts/api-error.js";
import { BASE_URL } from "../parts/base.js";
import { ErrorNote } from "../parts/elements.js";
import { useResource } from "../parts/resource.js";

const api = createClient<paths>({ baseUrl: BASE_URL.replace(/\/$/, "") });

function Studio() {
  const { data, error } = useResource((signal) => dataOf(api.GET("/api/v1/me", { signal })), []);
  return (
    <main>
      <h1>Studio</h1>
      {error === undefined ? null : <ErrorNote error={error} />}
      {data === undefined ? null : <p>{data.account_tier}</p>}
    </main>
  );
}

const page = document.getElementById("page");
if (page !== null) render(<Studio />, page);
