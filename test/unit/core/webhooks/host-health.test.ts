import { expect } from "chai";
import type { WebhookFailure } from "../../../../core/ports/webhook-sender.js";
import { HEALTHY } from "../../../../core/ports/webhook-records.js";
import { afterAttempt, holdsBack, type HostHealth, isFailing } from "../../../../core/webhooks/host-health.js";
import { hostKeyOf, requestKeyOf } from "../../../../core/webhooks/url-rules.js";

const POLICY = { openMs: 30_000, openMaxMs: 600_000 };

/** The health after these failures, a second apart unless the host is paused. */
function after(failures: readonly (WebhookFailure | null)[], before: HostHealth | null = null): HostHealth | null {
  return failures.reduce<HostHealth | null>((health, failure) => {
    const now = Math.max(1_000, health?.openUntil ?? 0);
    return afterAttempt(health, failure, POLICY, now);
  }, before);
}

describe("The health of a host", () => {
  it("fails from the fifth failure in a row, and pauses twice as long each time", () => {
    expect(isFailing(after(Array<WebhookFailure>(4).fill("connect")))).to.equal(false);
    for (const [failures, openMs] of [
      [5, 30_000],
      [6, 60_000],
      [9, 480_000],
      [10, 600_000],
      [30, 600_000],
    ] as const)
      expect(after(Array<WebhookFailure>(failures).fill("timeout"))?.openMs, String(failures)).to.equal(openMs);
  });

  it("is well again after one success", () => {
    expect(after([...Array<WebhookFailure>(9).fill("http_5xx"), null])).to.equal(null);
    expect(isFailing(after(["tls", "tls", "tls", "tls", null, "tls"]))).to.equal(false);
  });

  it("learns nothing from an address that is blocked, nor from an endpoint that is gone", () => {
    for (const failure of ["blocked_address", "gone"] as const)
      expect(after(Array<WebhookFailure>(9).fill(failure))).to.equal(null);
  });

  it("pauses no longer for attempts that had begun before", () => {
    const open = after(Array<WebhookFailure>(5).fill("connect"));
    const late = afterAttempt(open, "connect", POLICY, (open?.openUntil ?? 0) - 1);
    expect(late).to.include({ failures: 6, openMs: 30_000, openUntil: open?.openUntil });
  });

  it("holds back all where it does not respond, and only those that failed themselves where it does", () => {
    const streak = { firstAt: 1, lastAt: 1, firstEventId: "evt_1" as never, severalEvents: false, warnedHours: 0 };
    const [fresh, failed] = [{ health: HEALTHY }, { health: { ...HEALTHY, streak } }];
    const host = (failure: WebhookFailure): HostHealth => after(Array<WebhookFailure>(5).fill(failure)) as HostHealth;
    expect([holdsBack(host("dns"), fresh), holdsBack(host("dns"), failed)]).to.deep.equal([true, true]);
    expect([holdsBack(host("http_4xx"), fresh), holdsBack(host("http_4xx"), failed)]).to.deep.equal([false, true]);
  });
});

describe("What URLs have in common", () => {
  it("is the host and the port", () => {
    for (const url of ["https://a.example/x?y#z", "https://a.example.:443/", "https://a.example"])
      expect(hostKeyOf(url), url).to.equal("a.example:443");
    expect(hostKeyOf("http://a.example/")).to.equal("a.example:80");
    expect(hostKeyOf("https://[2001:db8::1]:8443/")).to.equal("[2001:db8::1]:8443");
  });

  it("is the request, without what is never sent", () => {
    const key = requestKeyOf("https://a.example/x?y=1");
    for (const same of ["https://a.example./x?y=1#z", "https://a.example:443/x?y=1#"])
      expect(requestKeyOf(same), same).to.equal(key);
    for (const other of [
      "http://a.example:443/x?y=1",
      "https://a.example/x?y=2",
      "https://a.example/X?y=1",
      "https://a.example:444/x?y=1",
    ])
      expect(requestKeyOf(other), other).to.not.equal(key);
  });
});
