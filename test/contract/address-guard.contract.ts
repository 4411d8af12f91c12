import { expect } from "chai";
import type { AddressGuard } from "../../core/ports/address-guard.js";

/** A guard, with names that its policy and its DNS treat differently. */
export interface GuardUnderTest {
  readonly guard: AddressGuard;
  /** An allowed name, and its addresses. */
  readonly reachable: { readonly name: string; readonly addresses: readonly string[] };
  /** A name that is refused by itself. */
  readonly refusedName: string;
  /** An admitted name with a blocked address. */
  readonly blocked: { readonly name: string; readonly addresses: readonly string[] };
  readonly unknownName: string;
  /** A name whose server does not respond. */
  readonly silentName: string;
  /** A blocked address, in the notation of URLs and of sockets. */
  readonly refusedLiteral: { readonly hostname: string; readonly address: string };
}

/**
 * The promises of every `AddressGuard`.
 *
 * @param open called by each test
 */
export function addressGuardContract(name: string, open: () => GuardUnderTest): void {
  describe(`AddressGuard contract: ${name}`, () => {
    it("returns the addresses of an allowed name", async () => {
      const { guard, reachable } = open();
      expect(guard.admitsHost(reachable.name)).to.equal(true);
      expect(await guard.resolve(reachable.name, 1_000)).to.deep.equal({
        state: "allowed",
        addresses: reachable.addresses,
      });
    });

    it("resolves a literal address to itself", async () => {
      const { guard, refusedLiteral } = open();
      for (const [hostname, address] of [
        ["8.8.8.8", "8.8.8.8"],
        ["[2606:4700::1111]", "2606:4700::1111"],
      ] as const) {
        expect(guard.admitsHost(hostname), hostname).to.equal(true);
        expect(await guard.resolve(hostname, 1_000)).to.deep.equal({ state: "allowed", addresses: [address] });
      }
      expect(guard.admitsHost(refusedLiteral.hostname)).to.equal(false);
      expect(await guard.resolve(refusedLiteral.hostname, 1_000)).to.deep.equal({
        state: "blocked",
        addresses: [refusedLiteral.address],
      });
    });

    it("blocks a refused name without resolving it", async () => {
      const { guard, refusedName } = open();
      expect(guard.admitsHost(refusedName)).to.equal(false);
      expect(await guard.resolve(refusedName, 1_000)).to.deep.equal({ state: "blocked", addresses: [] });
    });

    it("admits a name without resolving it, and blocks it by its addresses", async () => {
      const { guard, blocked } = open();
      expect(guard.admitsHost(blocked.name)).to.equal(true);
      expect(await guard.resolve(blocked.name, 1_000)).to.deep.equal({
        state: "blocked",
        addresses: blocked.addresses,
      });
    });

    it("returns the reason why a name has no address", async () => {
      const { guard, unknownName } = open();
      const resolution = await guard.resolve(unknownName, 1_000);
      expect(resolution).to.have.property("state", "unresolved");
      expect(resolution).to.have.property("reason").that.is.a("string").and.is.not.empty;
    });

    it("times out on a name whose server does not respond", async () => {
      const { guard, silentName } = open();
      expect(await guard.resolve(silentName, 50)).to.have.property("state", "unresolved");
    });
  });
}
