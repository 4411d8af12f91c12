import { readFileSync } from "node:fs";
import { repositoryPath } from "../repository.js";
import { DECLARED } from "./declared/index.js";
import { generatedMutants } from "./generated.js";
import { type Mutant, mutantOf } from "./guard.js";

/** Every guard that is declared, and every one that is found by its shape. */
export function mutantsOfAll(): Mutant[] {
  return [...declaredMutants(), ...generatedMutants()];
}

/** @throws {Error} a declared text does not occur exactly once */
export function declaredMutants(): Mutant[] {
  return DECLARED.map((guard) => mutantOf(guard, readFileSync(repositoryPath(guard.file), "utf8")));
}
