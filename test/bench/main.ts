/**
 * Runs the benchmarks, all or the named ones, and prints the results.
 *
 * npm run bench -- [NAME ...] [--strict]
 *
 * With --strict the exit code is 1 when a target is missed.
 */
import { cpus } from "node:os";
import { commands } from "./commands.js";
import { cost } from "./cost.js";
import { create } from "./create.js";
import { createMysql } from "./create-mysql.js";
import { due } from "./due.js";
import { type Bench, type Figure, toTable } from "./figures.js";
import { growth } from "./growth.js";
import { hanging } from "./hanging.js";
import { queues } from "./queues.js";
import { rateLimits } from "./rate-limits.js";
import { logs } from "./logs.js";
import { read } from "./read.js";
import { replica } from "./replica.js";
import { reads } from "./reads.js";
import { inFlight } from "./in-flight.js";
import { requestCost } from "./request-cost.js";
import { search } from "./search.js";
import { start } from "./start.js";
import { storage } from "./storage.js";
import { synth } from "./synth.js";
import { takeover } from "./takeover.js";
import { verify } from "./verify.js";
import { webhooks } from "./webhooks.js";
import { work } from "./work.js";

const BENCHES: readonly Bench[] = [
  read,
  reads,
  create,
  createMysql,
  work,
  queues,
  inFlight,
  storage,
  synth,
  start,
  commands,
  verify,
  webhooks,
  hanging,
  due,
  takeover,
  rateLimits,
  requestCost,
  cost,
  search,
  logs,
  replica,
  growth,
];

const given = process.argv.slice(2);
const names = given.filter((word) => !word.startsWith("--"));
const unknown = names.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(
    `There is no benchmark ${unknown.join(", ")}. There ` +
      `are:\n${BENCHES.map(({ name, compares }) => `  ${name.padEnd(10)}${compares}`).join("\n")}`,
  );
  process.exit(2);
}

const figures: Figure[] = [];
for (const bench of BENCHES) {
  if (names.length > 0 && !names.includes(bench.name)) continue;
  console.error(`${bench.name}: ${bench.compares} …`);
  figures.push(...(await bench.run()));
}
console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}\n`);
console.log(toTable(figures));
if (given.includes("--strict") && figures.some(({ target }) => target?.met === false)) process.exitCode = 1;
