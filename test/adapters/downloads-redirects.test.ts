import { expect } from "chai";
import { CertificateAuthority } from "../support/fault-receiver/certificates.js";
import { responding, FileHost, serving } from "../support/file-host.js";
import { tinyMp3 } from "../support/provider-kit/sounds.js";
import { loadUrl as load, openerFor, refusalOf as refusal } from "./downloads-support.js";

const FILE = tinyMp3("downloads");

describe("GuardedAssetOpener with URLs, on the way", () => {
  let host: FileHost;
  beforeEach(async () => {
    host = await FileHost.open();
  });
  afterEach(() => host.close());

  it("refuses addresses that are not public, however they are reached", async () => {
    for (const url of [
      "http://169.254.169.254/latest",
      "http://10.0.0.1/a.mp3",
      "http://[::ffff:10.0.0.1]/a.mp3",
      "http://0x0a000001/a.mp3",
      "http://intranet/a.mp3",
    ]) {
      expect(await refusal(url), url).to.include({ kind: "failed" });
      const redirected = await refusal(host.on("/r", responding(302, { Location: url })));
      expect(redirected, url).to.include({ kind: "failed" });
      expect(redirected.message).to.include("may not be connected to");
    }
  });

  it("names the settings that allow an address, or plain http, that it refuses", async () => {
    const opener = openerFor({ allowHttp: false });
    const refusalAt = (url: string): Promise<string> =>
      opener
        .open({ kind: "url", url }, { maxBytes: 1_000, providerId: "owl", signal: new AbortController().signal })
        .then(
          () => "it was opened",
          (error: Error) => error.message,
        );
    try {
      expect(await refusalAt("https://10.0.0.1:8443/a.mp3")).to.equal(
        "The download of 10.0.0.1:8443/a.mp3 failed: 10.0.0.1 may not be connected to; if it is meant to be fetched, " +
          "plugins.owl.allowHosts with https://10.0.0.1:8443 in it, or webhooks.allowHosts or webhooks.allowNetworks " +
          "allows it.",
      );
      expect(await refusalAt("http://files.example/a.mp3")).to.equal(
        "The file cannot be fetched: it leads to plain http, at files.example; if it is meant to be fetched, " +
          "plugins.owl.allowHosts with http://files.example in it, or webhooks.allowHttp allows it.",
      );
    } finally {
      await opener.close();
    }
  });

  it("follows five redirects and no more", async () => {
    for (const [index, status] of [301, 302, 303, 307, 308].entries())
      host.on(`/${index}`, responding(status, { Location: `${index + 1}` }));
    host.on("/5", serving(FILE));
    expect((await load(host.url("/0"))).equals(FILE)).to.equal(true);
    host.on("/5", responding(302, { Location: "/6" }));
    host.on("/6", serving(FILE));
    expect(await refusal(host.url("/0"))).to.include({ kind: "failed" });
    expect(host.of("/6")).to.have.lengthOf(0);
  });

  it("refuses a loop, and redirects that lead nowhere or to other schemes", async () => {
    expect(await refusal(host.on("/loop", responding(302, { Location: "/loop" })))).to.include({ kind: "failed" });
    const leading: readonly Readonly<Record<string, string>>[] = [
      {},
      { Location: "file:///etc/passwd" },
      { Location: "data:audio/mpeg;base64,SUQz" },
      { Location: "http://[" },
      { Location: "http://user:pw@127.0.0.1/" },
    ];
    for (const headers of leading)
      expect(await refusal(host.on("/r", responding(302, headers)))).to.include({ kind: "failed" });
    for (const url of ["ftp://127.0.0.1/a.mp3", "file:///etc/passwd", "no url", ""])
      expect(await refusal(url)).to.include({ kind: "failed" });
  });

  it("keeps the plugin's headers from every other origin, and from what such an origin chooses", async () => {
    host.on("/start", responding(302, { Location: host.url("/other", "localhost") }));
    host.on("/other", responding(302, { Location: host.url("/back") }));
    host.on("/back", serving(FILE));
    await load(host.url("/start"), { headers: { "X-Key": "secret" } });
    expect(host.requests.map(({ url, headers }) => [url, headers["x-key"]])).to.deep.equal([
      ["/start", "secret"],
      ["/other", undefined],
      ["/back", undefined],
    ]);
  });

  it("goes along with the headers within the origin", async () => {
    host.on("/start", responding(302, { Location: "/end" }));
    host.on("/end", serving(FILE));
    await load(host.url("/start"), { headers: { "X-Key": "secret" } });
    expect(host.of("/end")[0]?.headers["x-key"]).to.equal("secret");
  });

  it("goes from https to plain http only where that is allowed", async () => {
    const authority = new CertificateAuthority();
    const secure = await FileHost.open(authority.issue({ names: ["localhost"] }));
    try {
      const url = secure.on("/start", responding(302, { Location: host.on("/plain", serving(FILE)) }));
      const refused = await refusal(url, { ca: [authority.cert], parts: { allowHttp: false } });
      expect(refused).to.include({ kind: "failed" });
      expect(refused.message).to.include("plain http");
      expect(host.requests).to.have.lengthOf(0);
      expect(await load(url, { ca: [authority.cert], parts: { allowHttp: true } })).to.have.lengthOf(FILE.length);
      expect(await refusal(url), "an authority that is not trusted").to.include({ kind: "unavailable" });
    } finally {
      await secure.close();
    }
  });
});
