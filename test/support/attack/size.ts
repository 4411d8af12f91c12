/** `FERMATA_TEST_ATTACK=long` replays the attacks larger; `npm run test:attack` sets it. */
export const IS_LONG = process.env["FERMATA_TEST_ATTACK"] === "long";

/** The size of an attack in `npm test`, or in `npm run test:attack`. */
export function sized<T>(short: T, long: T): T {
  return IS_LONG ? long : short;
}
