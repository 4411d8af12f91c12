import fc from "fast-check";

/**
 * First and last address of everything in IPv4 that is not for everybody, from the registries, and written down apart
 * from the code.
 */
export const IPV4_SPECIAL: readonly (readonly [first: string, last: string])[] = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["168.63.129.16", "168.63.129.16"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.31.196.0", "192.31.196.255"],
  ["192.52.193.0", "192.52.193.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["192.175.48.0", "192.175.48.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "255.255.255.255"],
];

export const toNumber = (dotted: string): number =>
  dotted.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);

export const toDotted = (address: number): string => [24, 16, 8, 0].map((bits) => (address >>> bits) & 255).join(".");

export function isSpecial(address: number): boolean {
  return IPV4_SPECIAL.some(([first, last]) => address >= toNumber(first) && address <= toNumber(last));
}

/** A blocked IPv4 address, the ends of the blocks more often than others. */
export const specialIpv4 = fc.constantFrom(...IPV4_SPECIAL).chain(([first, last]) => {
  const [low, high] = [toNumber(first), toNumber(last)];
  return fc.oneof(fc.constant(low), fc.constant(high), fc.integer({ min: low, max: high }));
});

/** A public one, those next to the blocks more often than others. */
export const publicIpv4 = fc
  .oneof(
    fc.constantFrom(...IPV4_SPECIAL.flatMap(([first, last]) => [toNumber(first) - 1, toNumber(last) + 1])),
    fc.integer({ min: 0, max: 0xffffffff }),
  )
  .filter((address) => address >= 0 && address <= 0xffffffff && !isSpecial(address));

const part = (value: number, base: 8 | 10 | 16): string =>
  `${base === 16 ? "0x" : base === 8 ? "0" : ""}${value.toString(base)}`;

/** How URLs may write an IPv4 address. */
export function ipv4Spellings(address: number): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = toDotted(address).split(".").map(Number);
  const whole = [8, 10, 16] as const;
  return [
    toDotted(address),
    `${toDotted(address)}.`,
    ...whole.map((base) => part(address, base)),
    ...whole.map((base) => [a, b, c, d].map((value) => part(value, base)).join(".")),
    ...whole.map((base) => [part(a, base), part(address % 0x1000000, 10)].join(".")),
    [part(a, 16), part(b, 8), part(c * 256 + d, 10)].join("."),
    `0X${address.toString(16).toUpperCase()}`,
    toDotted(address).replaceAll(".", "。"),
    toDotted(address).replace(/[1-9]/g, (digit) => String.fromCodePoint(0x2460 + Number(digit) - 1)), // circled digits
    toDotted(address).replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))), // wide digits
    toDotted(address).replace(/\d/g, (digit) => `%3${digit}`),
    toDotted(address).replace(".", "\u00ad."), // a soft hyphen
  ];
}

/** How an IPv6 address may hold an IPv4 address, in several ways of writing. */
export function embeddings(
  address: number,
): Readonly<Record<"mapped" | "translated" | "compatible" | "nat64" | "sixToFour", string[]>> {
  const dotted = toDotted(address);
  const high = (address >>> 16).toString(16);
  const low = (address & 0xffff).toString(16);
  return {
    mapped: [`::ffff:${dotted}`, `::FFFF:${high}:${low}`, `0:0:0:0:0:ffff:${dotted}`],
    translated: [`::ffff:0:${dotted}`, `::ffff:0:${high}:${low}`],
    compatible: [`::${dotted}`, `0:0:0:0:0:0:${high}:${low}`],
    nat64: [`64:ff9b::${dotted}`, `64:ff9b::${high}:${low}`, `0064:ff9b:0:0:0:0:${high}:${low}`],
    sixToFour: [`2002:${high}:${low}::`, `2002:${high}:${low}::1`],
  };
}

/** The host as the parser of URLs gives it. */
export const hostOfUrl = (host: string): string => new URL(`https://${host}/`).hostname;
