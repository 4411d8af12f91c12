import { expect } from "chai";
import { type ApiResponse, type ApiClient, dataOf, refusalOf } from "../support/api-client.js";
import { StubGuard } from "../support/doubles/stub-guard.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const PATH = "/api/v1/webhook-endpoints";
const headers = { "Content-Type": "application/json" };

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly status: string;
}

const post = (api: ApiClient, body: unknown): Promise<ApiResponse> => api.send("POST", PATH, { headers, body });
const patch = (api: ApiClient, id: string, body: unknown): Promise<ApiResponse> =>
  api.send("PATCH", `${PATH}/${id}`, { headers, body });
const list = async (api: ApiClient): Promise<Endpoint[]> =>
  dataOf<{ readonly webhook_endpoints: Endpoint[] }>(await api.get(PATH)).webhook_endpoints;

let registered = 0;
/** A URL that no account has yet. */
const another = (): string => `https://hooks.example.com/${(registered += 1)}`;
const register = async (api: ApiClient, url = another()): Promise<Endpoint> =>
  dataOf<Endpoint>(await post(api, { url }));

describe("The URL of a webhook endpoint", () => {
  let test: TestApp;
  let api: ApiClient;
  before(async () => {
    test = await startTestApp({ addressGuard: new StubGuard() });
  });
  beforeEach(async () => {
    ({ api } = await test.account());
  });
  after(() => test.close());

  it("is accepted once per account, in any spelling; the refusal names the endpoint that has it", async () => {
    const { id } = await register(api, "https://hooks.example.com/once?a=1");
    const spellings = [
      "https://hooks.example.com/once?a=1",
      "HTTPS://Hooks.Example.Com:443/x/../once?a=1",
      "https://hooks.example.com./once?a=1",
      "https://hooks.example.com/once?a=1#other",
    ];
    for (const url of spellings) {
      const response = await post(api, { url });
      expect(refusalOf(response), url).to.equal("400 webhook_url_invalid");
      expect(response.text, url).to.include(id);
    }
    await patch(api, id, { status: "disabled" });
    expect(refusalOf(await post(api, { url: spellings[0] })), "a disabled one can be enabled again").to.equal(
      "400 webhook_url_invalid",
    );
    await register(api, "https://hooks.example.com/once?a=2");
    await register((await test.account()).api, spellings[0]);
    await api.send("DELETE", `${PATH}/${id}`);
    await register(api, spellings[0]);
  });

  it("is accepted once when creations and changes arrive at once", async () => {
    const url = another();
    const { id } = await register(api);
    const responses = await Promise.all([
      patch(api, id, { url }),
      ...Array.from({ length: 12 }, () => post(api, { url })),
    ]);
    const taken = responses.filter(({ status }) => status < 300);
    expect(taken).to.have.length(1);
    expect(new Set(responses.filter((response) => !taken.includes(response)).map(refusalOf))).to.deep.equal(
      new Set(["400 webhook_url_invalid"]),
    );
    expect((await list(api)).filter((endpoint) => endpoint.url === url)).to.have.length(1);
  });

  it("is refused in a change when another endpoint has it, and accepted when it is the endpoint's own", async () => {
    const [one, two] = [await register(api), await register(api)];
    const response = await patch(api, two.id, { url: `${one.url}#same`, status: "disabled" });
    expect(refusalOf(response)).to.equal("400 webhook_url_invalid");
    expect(response.text).to.include(one.id);
    expect((await list(api))[0]).to.include({ id: two.id, url: two.url, status: "active" });
    expect(dataOf<Endpoint>(await patch(api, two.id, { url: two.url })).url).to.equal(two.url);
    expect(dataOf<Endpoint>(await patch(api, two.id, { url: `${two.url}#part` })).url).to.equal(`${two.url}#part`);
  });
});
