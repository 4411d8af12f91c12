import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { FAULTS } from "../support/fault-receiver/faults.js";
import { FaultReceiver } from "../support/fault-receiver/receiver.js";
import { aMessage } from "../support/webhook-builders.js";
import { senderFor, withSender } from "./webhook-sender-support.js";

const never = new AbortController().signal;
const MAIN = new URL(
  `../support/fault-receiver/main.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`,
  import.meta.url,
);

/** The program that users start, and all it has written. */
class Program {
  output = "";
  readonly exited: Promise<unknown[]>;
  private readonly child: ChildProcess;

  constructor(...args: readonly string[]) {
    this.child = fork(MAIN, args, { silent: true, execArgv: process.execArgv });
    this.exited = once(this.child, "close");
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => (this.output += text));
  }

  async line(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.output);
      if (found !== null) return found[1] as string;
      await once(this.child.stdout as NodeJS.ReadableStream, "data");
    }
  }

  async stop(): Promise<unknown> {
    this.child.kill("SIGTERM");
    return (await this.exited)[0];
  }
}

describe("The fault receiver", () => {
  it("runs as a program: says where it listens and whom to trust, what it can do, and what arrived", async () => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const program = new Program("--port", "0", "--secret", secret, "--fault", "gone");
    const url = await program.line(/^listening on (\S+)\/$/m);
    const ca = await readFile(await program.line(/^its authority.*: (\S+)$/m), "utf8");
    await program.line(/^ +\/(stale) /m);
    for (const fault of Object.keys(FAULTS)) expect(program.output).to.include(`  /${fault}`);
    const sender = senderFor({ ca });
    const result = await sender.send(
      aMessage({ url: `${url}/any/path`, sentAt: Date.now(), secrets: [secret] }),
      never,
    );
    expect(result).to.include({ failure: "gone", status: 410 });
    expect(await program.line(/(POST .*)$/m)).to.equal(
      `POST /any/path 31 bytes, ${aMessage({ url }).eventId}, signature valid`,
    );
    await sender.close();
    expect(await program.stop()).to.equal(0);
  });

  for (const wrong of [
    ["--fault", "nothing"],
    ["--certificate", "nothing"],
    ["--port", "x"],
  ] as const) {
    it(`refuses ${wrong.join(" ")}`, async () => {
      const program = new Program(...wrong);
      expect((await program.exited)[0]).to.equal(2);
      expect(program.output).to.include(wrong[1]);
    });
  }

  it("keeps requests with their raw bytes, and verifies them when it has the secret", async () => {
    const receiver = await FaultReceiver.open({ secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" });
    try {
      const message = aMessage({ url: receiver.url("/ok"), sentAt: Date.now(), body: '{"é":1}' });
      await withSender(receiver, {}, async (sender) => {
        await sender.send(message, never);
        await sender.send({ ...message, secrets: [`whsec_${"A".repeat(32)}`] }, never);
        await sender.send({ ...message, sentAt: Date.now() - 600_000 }, never);
      });
      expect(receiver.requests.map(({ isVerified }) => isVerified)).to.deep.equal([true, false, false]);
      expect(receiver.requests[0]?.body).to.deep.equal(Buffer.from('{"é":1}'));
    } finally {
      await receiver.close();
    }
  });

  it("has the configured certificate", async () => {
    const receiver = await FaultReceiver.open({ certificate: "expired" });
    try {
      const result = await withSender(receiver, {}, (sender) =>
        sender.send(aMessage({ url: receiver.url("/ok") }), never),
      );
      expect(result).to.include({ failure: "tls", message: "No connection: localhost: its certificate has expired." });
    } finally {
      await receiver.close();
    }
  });
});
