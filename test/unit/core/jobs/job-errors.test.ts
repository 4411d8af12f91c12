import { expect } from "chai";
import { ERROR_CODES } from "../../../../core/error-codes.js";
import { CANCELLED_ERROR, DEADLINE_ERROR, jobErrorOf, POISON_ERROR } from "../../../../core/jobs/job-errors.js";

describe("jobErrorOf", () => {
  const codes = [
    ["unavailable", "provider_unavailable"],
    ["timeout", "provider_timeout"],
    ["outcome_unknown", "provider_timeout"],
    ["content_rejected", "invalid_request"],
    ["failed", "generation_failed"],
    ["rate_limited", "provider_unavailable"],
    ["misconfigured", "provider_unavailable"],
    ["out_of_credit", "provider_unavailable"],
    ["model_unavailable", "provider_unavailable"],
    ["invalid_input", "generation_failed"],
    ["cancelled", "generation_failed"],
    ["gone", "generation_failed"],
  ] as const;
  for (const [kind, code] of codes) {
    it(`says ${code} for ${kind}`, () => {
      expect(jobErrorOf(kind).code).to.equal(code);
    });
  }

  it("distinguishes a refusal of content from other invalid requests, and gives no details elsewhere", () => {
    expect(jobErrorOf("content_rejected").details).to.deep.equal({ reason: "content_rejected" });
    for (const kind of ["unavailable", "timeout", "outcome_unknown", "failed"] as const) {
      expect(jobErrorOf(kind)).not.to.have.property("details");
    }
  });

  it("uses codes of the catalogue only, with a sentence each", () => {
    const kinds = codes.map(([kind]) => jobErrorOf(kind));
    for (const error of [...kinds, POISON_ERROR, DEADLINE_ERROR, CANCELLED_ERROR]) {
      expect(ERROR_CODES).to.include(error.code);
      expect(error.message).to.match(/^[A-Z].*\.$/);
    }
  });
});
