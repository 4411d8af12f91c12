import { expect } from "chai";
import { IdempotencyConflictError, IdempotencyKeyConflictError } from "../../../../core/errors.js";
import { checkReplay } from "../../../../core/idempotency/replay.js";

describe("checkReplay", () => {
  const record = { shape: "s", body: "b" };

  it("passes the same request", () => {
    expect(() => checkReplay(record, { ...record })).not.to.throw();
  });

  it("refuses the same shape with other values", () => {
    expect(() => checkReplay(record, { shape: "s", body: "other" })).to.throw(IdempotencyConflictError);
  });

  it("speaks of the key when the shape is another, whatever the values", () => {
    expect(() => checkReplay(record, { shape: "other", body: "other" })).to.throw(IdempotencyKeyConflictError);
    expect(() => checkReplay(record, { shape: "other", body: "b" })).to.throw(IdempotencyKeyConflictError);
  });
});
