/** Copies the files of Swagger UI that the API page loads, with their licences, to FOLDER/swagger-ui. */
import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const FILES = [
  "swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt",
  "swagger-ui.css",
  "favicon-32x32.png",
  "LICENSE",
  "NOTICE",
];

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("Usage: node copy-swagger-ui.js FOLDER");
const from = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
const to = join(folder, "swagger-ui");
mkdirSync(to, { recursive: true });
for (const file of FILES) copyFileSync(join(from, file), join(to, file));
