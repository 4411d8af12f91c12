import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A running program of an example, by the lines that it prints. */
export class ExampleProcess {
  /** What it wrote to stderr. */
  errors = "";
  private readonly lines: AsyncIterableIterator<string>;
  private readonly exit: Promise<unknown[]>;

  private constructor(private readonly child: ChildProcess) {
    if (child.stdout === null || child.stderr === null) throw new Error("The example has a stdout and a stderr.");
    this.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stderr.on("data", (text: Buffer) => (this.errors += text.toString()));
    this.exit = once(child, "exit");
  }

  /** @param file the compiled program, in the folder `cwd` */
  static start(file: string, cwd: string, env: NodeJS.ProcessEnv): ExampleProcess {
    return new ExampleProcess(spawn(process.execPath, [file], { cwd, env, stdio: ["ignore", "pipe", "pipe"] }));
  }

  /** The next line of its output. */
  async line(): Promise<string> {
    const { value } = (await this.lines.next()) as { readonly value?: string };
    return value ?? "the example has ended";
  }

  /** @returns its exit code */
  async stop(): Promise<unknown> {
    this.child.kill("SIGTERM");
    return (await this.exit)[0];
  }

  /** SIGKILL; resolves when it has ended. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.exit;
  }
}
