import { inspect } from "node:util";
import { expect } from "chai";
import { Agent } from "undici";
import { ProviderApi, type ProviderApiOptions, ProviderFailure } from "../../../../plugins/sdk/index.js";
import { type Certificate, CertificateAuthority, selfSigned } from "../../../support/fault-receiver/certificates.js";
import { responding, FileHost } from "../../../support/file-host.js";
import { FakeApi, json } from "../../../support/provider-kit/index.js";

const KEY = "sk-live-0123456789";
const DAY_MS = 86_400_000;
const CALL = { path: "/music", json: { prompt: "rain" }, signal: new AbortController().signal } as const;

type ApiParts = Pick<ProviderApiOptions, "baseUrl"> & Partial<ProviderApiOptions>;

function apiOf(parts: ApiParts): ProviderApi {
  return new ProviderApi({ fetch, headers: { authorization: `Bearer ${KEY}` }, timeoutMs: 10_000, ...parts });
}

async function failure(work: Promise<unknown>): Promise<ProviderFailure> {
  const error: unknown = await work.then(
    () => new Error("the call succeeded"),
    (thrown: unknown) => thrown,
  );
  if (!ProviderFailure.is(error)) throw error;
  return error;
}

/** All that a log could make of an error: message, stack, causes and what hangs on them. */
const allOf = (error: unknown): string => inspect(error, { depth: Infinity, showHidden: true });

describe("ProviderApi over TLS", () => {
  const names = ["localhost"];
  let authority: CertificateAuthority;
  let agent: Agent;
  beforeEach(() => {
    authority = new CertificateAuthority();
    agent = new Agent({ connect: { ca: [authority.cert] } });
  });
  afterEach(() => agent.destroy());

  /** Trusts the one authority. */
  const trusting: typeof fetch = (input, init) =>
    fetch(input, { ...init, dispatcher: agent } as unknown as RequestInit);

  async function withServer(
    certificate: Certificate,
    work: (server: FileHost, api: ProviderApi) => Promise<void>,
  ): Promise<void> {
    const server = await FileHost.open(certificate);
    server.on("/v1/music", responding(200, {}, "{}"));
    try {
      await work(server, apiOf({ fetch: trusting, baseUrl: server.url("/v1") }));
    } finally {
      await server.close();
    }
  }

  it("takes the key to a server that proves its name", async () => {
    await withServer(authority.issue({ names }), async (server, api) => {
      expect((await api.call(CALL)).status).to.equal(200);
      expect(server.requests.map(({ headers }) => headers.authorization)).to.deep.equal([`Bearer ${KEY}`]);
    });
  });

  const REFUSED: readonly (readonly [what: string, code: string, certificate: () => Certificate])[] = [
    ["is signed by itself", "DEPTH_ZERO_SELF_SIGNED_CERT", () => selfSigned({ names })],
    [
      "comes with an authority that is not trusted",
      "SELF_SIGNED_CERT_IN_CHAIN",
      () => new CertificateAuthority("Another").issue({ names }),
    ],
    [
      "comes without its authority",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      () => alone(new CertificateAuthority("Another").issue({ names })),
    ],
    ["is for another host", "ERR_TLS_CERT_ALTNAME_INVALID", () => authority.issue({ names: ["other.example"] })],
    ["has expired", "CERT_HAS_EXPIRED", () => authority.issue({ names, validTo: new Date(Date.now() - DAY_MS / 2) })],
    [
      "is not valid yet",
      "CERT_NOT_YET_VALID",
      () => authority.issue({ names, validFrom: new Date(Date.now() + DAY_MS) }),
    ],
  ];
  for (const [what, code, certificate] of REFUSED) {
    it(`knows that nothing was sent to a server whose certificate ${what}, and says ${code}`, async () => {
      await withServer(certificate(), async (server, api) => {
        for (const creates of [true, false]) {
          const error = await failure(api.call({ ...CALL, creates }));
          expect([error.kind, error.message, error.billable]).to.deep.equal([
            "unavailable",
            `The connection failed (${code}).`,
            "no",
          ]);
          expect(allOf(error)).to.include(code).and.not.include(KEY);
        }
        expect(server.requests).to.deep.equal([]);
      });
    });
  }
});

describe("ProviderApi with a key that no header can hold", () => {
  const [START, END] = ["sk-live-0123", "456789-end"];
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    fake.on("POST", "/music", json({}));
  });
  afterEach(() => fake.close());

  const CHARACTERS: readonly (readonly [what: string, character: string])[] = [
    ["a line break", "\n"],
    ["a NUL", "\0"],
    ["an escape, as terminals paste it", "\u001b"],
    ["a delete", "\u007f"],
    ["a zero-width space", "\u200b"],
    ["a curly quotation mark", "\u201c"],
  ];
  for (const [what, character] of CHARACTERS) {
    it(`is misconfigured by ${what}: it names the header, shows no part of the key and sends nothing`, async () => {
      const key = `${START}${character}${END}`;
      for (const [name, headers, own] of [
        ["authorization", { authorization: `Bearer ${key}` }, {}],
        ["x-own-key", {}, { "x-own-key": key }],
      ] as const) {
        const error = await failure(
          apiOf({ baseUrl: fake.url, headers }).call({ ...CALL, headers: own, creates: true }),
        );
        expect([error.kind, error.message, error.billable]).to.deep.equal([
          "misconfigured",
          `The header ${name} holds a character that cannot be sent.`,
          "no",
        ]);
        expect(allOf(error)).to.not.include(START).and.not.include(END);
      }
      expect(fake.requests).to.deep.equal([]);
    });
  }

  it("sends one that was copied with white space around it, without that", async () => {
    await apiOf({ baseUrl: fake.url, headers: { "x-api-key": ` ${KEY}\r\n`, authorization: `Bearer ${KEY}\n` } }).call(
      CALL,
    );
    expect(fake.requests[0]?.headers).to.include({ "x-api-key": KEY, authorization: `Bearer ${KEY}` });
  });
});

/** Without those that follow it in the chain. */
function alone({ cert, key }: Certificate): Certificate {
  const end = "-----END CERTIFICATE-----\n";
  return { cert: cert.slice(0, cert.indexOf(end) + end.length), key };
}
