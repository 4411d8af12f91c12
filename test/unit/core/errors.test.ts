import { expect } from "chai";
import { ERROR_CODES } from "../../../core/error-codes.js";
import * as errors from "../../../core/errors.js";

const { FermataError } = errors;
const SECRET = "frm_0A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9tAbCdEf";

const samples: readonly errors.FermataError[] = [
  new errors.AuthenticationRequiredError(),
  new errors.InvalidApiKeyError(),
  new errors.RevokedApiKeyError(),
  new errors.AccountSuspendedError(),
  new errors.ApiTermsNotAcceptedError(),
  new errors.InsufficientScopeError("models:read"),
  new errors.InvalidRequestError([{ path: "body.prompt", message: "is missing" }]),
  new errors.InvalidModelError(),
  new errors.ModelNotFoundError(),
  new errors.InsufficientCreditsError({ required: 5, available: 2 }),
  new errors.IdempotencyKeyRequiredError(),
  new errors.IdempotencyKeyConflictError(),
  new errors.IdempotencyConflictError(),
  new errors.GenerationConcurrencyExceededError({ limit: 1, running: 1 }),
  new errors.JobNotFoundError(),
  new errors.TrackNotFoundError(),
  new errors.PlaylistNotFoundError(),
  new errors.WebhookEndpointNotFoundError(),
  new errors.WebhookUrlInvalidError(),
  new errors.WebhookHttpsRequiredError(),
  new errors.WebhookCredentialsForbiddenError(),
  new errors.WebhookHostBlockedError(),
  new errors.NotFoundError(),
  new errors.MethodNotAllowedError("GET"),
  new errors.PayloadTooLargeError(1_024),
  new errors.UnsupportedMediaTypeError(),
  new errors.RateLimitedError({ limit: 12, window_seconds: 60, retry_after_seconds: 7 }),
  new errors.ProviderUnavailableError(),
  new errors.ProviderTimeoutError(),
  new errors.ServiceUnavailableError("Busy.", 1, { cause: new Error(SECRET) }),
  new errors.TransactionLostError({ cause: new Error(SECRET) }),
  new errors.RowsLockedError({ cause: new Error(SECRET) }),
  new errors.OperationRefusedError("There is no such tier."),
  new errors.UnknownObjectError("There is no such account."),
  new errors.InputRefusedError("A title is one line.", [{ path: "body.title", message: "must be one line" }]),
];

describe("The error catalogue", () => {
  it("has a sample of every class in this test", () => {
    const classes = Object.values(errors).filter(
      (value): value is typeof FermataError => typeof value === "function" && value.prototype instanceof FermataError,
    );
    expect(samples.map((error) => error.constructor.name).sort()).to.deep.equal(classes.map(({ name }) => name).sort());
  });

  it("names every code once", () => {
    expect(new Set(ERROR_CODES).size).to.equal(ERROR_CODES.length);
    for (const code of ERROR_CODES) expect(code).to.match(/^[a-z]+(_[a-z]+)*$/);
  });

  for (const error of samples) {
    describe(error.constructor.name, () => {
      it("has a code of the catalogue, a sentence and its own name", () => {
        expect(ERROR_CODES).to.include(error.code);
        expect(error.message).to.match(/^[A-Z].*[.`]$/s);
        expect(error.name).to.equal(error.constructor.name);
      });

      it("shows no secret and none of its causes", () => {
        const shown = JSON.stringify([error.code, error.message, error.details]);
        expect(shown).not.to.match(/frm_[0-9A-Za-z]{46}|password|SELECT|node_modules|\bat .*:\d+:\d+/);
      });

      it("has details that are an object of JSON, or none", () => {
        if (error.details === undefined) return;
        expect(error.details).to.be.an("object");
        expect(JSON.parse(JSON.stringify(error.details))).to.deep.equal(error.details);
      });
    });
  }

  it("describes its details as the API document does", () => {
    const details = Object.fromEntries(
      samples.filter((error) => error.details).map((error) => [error.code, error.details]),
    );
    expect(details).to.deep.equal({
      insufficient_scope: { required_scope: "models:read" },
      invalid_request: { issues: [{ path: "body.prompt", message: "is missing" }] },
      insufficient_credits: { required: 5, available: 2 },
      generation_concurrency_exceeded: { limit: 1, running: 1 },
      rate_limited: { limit: 12, window_seconds: 60, retry_after_seconds: 7 },
    });
  });

  it("names every issue of a request in its message and details", () => {
    const issues = [
      { path: "body.prompt", message: "is missing" },
      { path: "body.duration", message: "must be 10 to 60" },
    ];
    const error = new errors.InvalidRequestError(issues);
    expect([error.code, error.details]).to.deep.equal(["invalid_request", { issues }]);
    expect(error.message).to.include("body.prompt is missing; body.duration must be 10 to 60");
  });
});

describe("FermataError.is", () => {
  it("knows errors of another copy of the package by their brand", () => {
    expect(FermataError.is({ [Symbol.for("fermata.error")]: true, code: "not_found" })).to.equal(true);
    for (const error of samples) expect(FermataError.is(error)).to.equal(true);
    expect(new errors.NotFoundError()).to.have.property(Symbol.for("fermata.error"), true);
  });

  const others = {
    "a plain error": new Error("plain"),
    null: null,
    nothing: undefined,
    text: "text",
    "a number": 5,
    "an empty object": {},
  };
  for (const [what, other] of Object.entries(others)) {
    it(`does not take ${what} for one`, () => {
      expect(FermataError.is(other)).to.equal(false);
    });
  }
});
