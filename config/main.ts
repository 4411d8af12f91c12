#!/usr/bin/env node
import { existsSync } from "node:fs";

/** What config/bundle.js makes of a checkout; the package has no bundle. */
const bundle = new URL("../command/command.js", import.meta.url);
// The contract suites have the compiled modules, and so what they check has to have them.
const isBundled = existsSync(bundle) && !process.argv.includes("check");
await import(isBundled ? bundle.href : "./command.js");
