import type { Command } from "commander";
import type { CliHost, McpOptions } from "./host.js";
import { addCommand } from "./output.js";
import { wholeNumber } from "./values.js";

/** `mcp`. */
export function addMcpCommand(program: Command, host: CliHost): void {
  addCommand(program, "mcp", "Offer the API of a server to an MCP client, over stdin and stdout", [
    "mcp",
    "mcp --url https://music.example.com --key-file ~/.fermata-key --confirm-above 50",
  ])
    .option("--url <url>", "the server; FERMATA_URL, or http://127.0.0.1:8080, by default")
    .option("--key-file <path>", "a file with the API key; it is in FERMATA_API_KEY otherwise")
    .option("--confirm-above <credits>", "ask before a call that costs more; 100 by default", wholeNumber)
    .action((options: McpOptions) => host.serveMcp(options));
}
