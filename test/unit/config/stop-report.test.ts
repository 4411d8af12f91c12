import { expect } from "chai";
import { StopReport } from "../../../config/stop-report.js";
import type { UnrepeatableWork } from "../../../core/leases/lease.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";

const SUBMISSION: UnrepeatableWork = { kind: "submission", providerId: "elevenlabs" };
const RESULT: UnrepeatableWork = { kind: "result", providerId: "lyria" };

describe("The report of a stop", () => {
  function written(isTTY: boolean): { readonly report: StopReport; readonly logger: RecordingLogger; text(): string } {
    let text = "";
    const logger = new RecordingLogger();
    const write = (chunk: string | Uint8Array): boolean => ((text += String(chunk)), true);
    return { report: new StopReport({ isTTY, write }, logger), logger, text: () => text };
  }

  it("says on a terminal what is waited for, for how long at most, and what a second Ctrl-C would cost", () => {
    const { report, logger, text } = written(true);
    report.waiting([SUBMISSION, RESULT, SUBMISSION], 300_000);
    report.waiting([SUBMISSION], 12_100);
    report.waiting([], 0);
    expect(text().split("\n")).to.deep.equal([
      "waiting for 2 submissions to elevenlabs and 1 result of lyria that cannot be repeated, at most 300 s; " +
        "press Ctrl-C again to stop now: they would be paid and refunded",
      "waiting for 1 submission to elevenlabs that cannot be repeated, at most 13 s; " +
        "press Ctrl-C again to stop now: it would be paid and refunded",
      "no call that cannot be repeated is under way any more",
      "",
    ]);
    expect(logger.lines).to.deep.equal([]);
  });

  it("says on a terminal what was given up", () => {
    const { report, text } = written(true);
    report.abandoned([SUBMISSION, SUBMISSION]);
    report.abandoned([RESULT]);
    expect(text()).to.equal(
      "gave up 2 submissions to elevenlabs: they are paid to the provider and refunded to the account\n" +
        "gave up 1 result of lyria: it is paid to the provider and refunded to the account\n",
    );
  });

  it("goes to the log where there is no terminal", () => {
    const { report, logger, text } = written(false);
    report.waiting([SUBMISSION, SUBMISSION], 300_000);
    report.waiting([], 0);
    report.abandoned([SUBMISSION]);
    expect(text()).to.equal("");
    expect(logger.lines).to.deep.equal([
      {
        level: "info",
        message: "The stop waits for calls that cannot be repeated",
        fields: { calls: "2 submissions to elevenlabs", at_most_seconds: 300 },
      },
      {
        level: "warn",
        message: "The stop gave up calls that cannot be repeated: they are paid and refunded",
        fields: { calls: "1 submission to elevenlabs" },
      },
    ]);
  });
});
