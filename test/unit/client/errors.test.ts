import { expect } from "chai";
import * as client from "../../../adapters/client/index.js";
import { toError } from "../../../adapters/client/errors.js";
import { ERROR_CODES } from "../../../core/error-codes.js";

const { ERRORS, FermataError } = client;
const body = (code: string) => ({ code, message: "It is so.", request_id: "req_1", details: { required: 9 } });

describe("Errors of the client", () => {
  it("have a class for every code of the API, and for no other", () => {
    expect(Object.keys(ERRORS)).to.have.members([...ERROR_CODES]);
    expect(new Set(Object.values(ERRORS)).size).to.equal(ERROR_CODES.length);
  });

  it("are called as they are exported, also in the bundle", () => {
    const exported = client as unknown as Record<string, typeof FermataError>;
    for (const code of ERROR_CODES) {
      const error = toError(body(code), { status: 400 });
      expect(error).to.be.instanceOf(exported[error.name]);
      expect(error).to.be.instanceOf(FermataError);
      expect(error.constructor).to.equal(ERRORS[code]);
    }
    expect(new client.NetworkError("").name).to.equal("NetworkError");
    expect(new client.WebhookVerificationError("").name).to.equal("WebhookVerificationError");
  });

  it("say what the response says, and the key of the request", () => {
    const error = toError(body("insufficient_credits"), { status: 402, idempotencyKey: "k-1" });
    expect(error).to.be.instanceOf(client.InsufficientCreditsError);
    expect({ ...error }).to.deep.include({
      code: "insufficient_credits",
      status: 402,
      requestId: "req_1",
      details: { required: 9 },
      idempotencyKey: "k-1",
      jobId: null,
    });
    expect(error.message).to.equal("It is so.");
  });

  it("of a code that is newer than the client are plain", () => {
    const error = toError(body("out_of_tune"), { status: 418 });
    expect([error.constructor, error.code, error.status]).to.deep.equal([FermataError, "out_of_tune", 418]);
  });
});
