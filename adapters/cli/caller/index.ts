import type { Command } from "commander";
import type { CliHost } from "../host.js";
import { addGenerate } from "./generate.js";
import { addLogin } from "./login.js";
import { addSplit, addWait } from "./split.js";

/** Commands for callers of any server: they read no settings and open no storage. */
export function addCallerCommands(program: Command, host: CliHost): void {
  addLogin(program, host);
  addGenerate(program, host);
  addWait(program, host);
  addSplit(program, host);
}
