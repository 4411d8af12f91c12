/** The messages between a server process and its benchmark. */
export type FromServer = { readonly url: string } | { readonly cpuMs: number };
export type ToServer = "cpu" | "stop";

/** The file of the database in a data directory. */
export const DATABASE_FILE = "fermata.sqlite";

/** Reports the address and serves until the benchmark says stop, or is gone. Started by hand it prints the address. */
export function serve(url: string, stop: () => Promise<void>): void {
  if (process.send === undefined) return void process.stdout.write(`listening on ${url}\n`);
  process.on("message", (message: ToServer) => {
    if (message === "stop") return void stop().then(() => process.disconnect());
    const { user, system } = process.cpuUsage();
    send({ cpuMs: (user + system) / 1000 });
  });
  process.on("disconnect", () => process.exit(0));
  send({ url });
}

function send(message: FromServer): void {
  process.send?.(message);
}
