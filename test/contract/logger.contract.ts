import { expect } from "chai";
import type { Logger } from "../../core/ports/logger.js";
import type { LogLine } from "../support/doubles/recording-logger.js";

/** A logger, and what it has written. */
export interface LoggerUnderTest {
  readonly logger: Logger;
  /** Everything written so far. */
  lines(): readonly LogLine[];
}

const TOKEN = `frm_${"a".repeat(46)}`;

/**
 * The promises of every `Logger`.
 *
 * @param open a logger that writes every level
 */
export function loggerContract(name: string, open: () => LoggerUnderTest): void {
  describe(`Logger contract: ${name}`, () => {
    it("writes every level with its message and fields", () => {
      const { logger, lines } = open();
      logger.debug("one", { step: 1 });
      logger.info("two");
      logger.warn("three", { list: [1, "x"], nested: { deep: true } });
      logger.error("four", { nothing: null });
      expect(lines()).to.deep.equal([
        { level: "debug", message: "one", fields: { step: 1 } },
        { level: "info", message: "two", fields: {} },
        { level: "warn", message: "three", fields: { list: [1, "x"], nested: { deep: true } } },
        { level: "error", message: "four", fields: { nothing: null } },
      ]);
    });

    it("adds the fields of a child to all its lines; inner fields win", () => {
      const { logger, lines } = open();
      const child = logger.child({ job: "job_1", attempt: 1 }).child({ attempt: 2 });
      child.info("tried");
      child.info("tried again", { attempt: 3 });
      logger.info("alone");
      expect(lines().map(({ fields }) => fields)).to.deep.equal([
        { job: "job_1", attempt: 2 },
        { job: "job_1", attempt: 3 },
        {},
      ]);
    });

    it("writes an error with its chain of causes", () => {
      const { logger, lines } = open();
      const cause = Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
      logger.error("failed", { error: new TypeError("no response", { cause }) });
      const error = lines()[0]?.fields["error"] as { name: string; message: string; stack: string; cause: object };
      expect(error).to.include({ name: "TypeError", message: "no response" });
      expect(error.stack).to.include("logger.contract");
      expect(error.cause).to.include({ message: "connection refused", code: "ECONNREFUSED" });
    });

    it("masks secrets in fields, in messages and in errors, on children too", () => {
      const { logger, lines } = open();
      logger.child({ apiKey: "hunter2-child" }).error(`used ${TOKEN}`, {
        headers: { authorization: "Bearer hunter2-header" },
        error: new Error(`refused ${TOKEN}`),
      });
      const written = JSON.stringify(lines());
      expect(written).to.not.include("hunter2").and.not.include(TOKEN);
      expect(written).to.include("refused frm_");
    });

    it("does not throw, whatever a field contains", () => {
      const { logger, lines } = open();
      const circular: { self?: object } = {};
      circular.self = circular;
      logger.info("odd", {
        circular,
        big: 10n,
        missing: undefined,
        bytes: new Uint8Array(3),
        run: () => 1,
        at: new Date(NaN),
      });
      expect(lines()).to.have.length(1);
      expect(lines()[0]?.fields).to.include({ big: "10", bytes: "[3 bytes]" });
    });
  });
}
