import { expect } from "chai";
import { classifyVersion } from "../../../adapters/queue/rabbitmq/doctor.js";
import { harmOf } from "../../../adapters/queue/rabbitmq/doctor-policies.js";

describe("The doctor of RabbitMQ, by given facts", () => {
  it("takes RabbitMQ from 3.10 on", () => {
    const results = ["3.8.27", "3.9.29", "3.10.0", "3.13.7", "4.1.0"].map(
      (version) => classifyVersion({ product: "RabbitMQ", version }).result,
    );
    expect(results).to.deep.equal(["failed", "failed", "ok", "ok", "ok"]);
    expect(classifyVersion({ product: "RabbitMQ", version: "3.9.29" })).to.include({
      message: "The broker is RabbitMQ 3.9.29, which is too old.",
      fix: "Move to RabbitMQ 3.10 or later.",
    });
  });

  it("leaves alone what a policy allows beyond our arguments, and what does not concern them", () => {
    for (const policy of [
      {},
      { "delivery-limit": 10, "max-length": 100_000 },
      { "delivery-limit": -1, "max-length": 5_000_000, overflow: "reject-publish" },
      { "ha-mode": "all", "queue-leader-locator": "balanced", "dead-letter-exchange": "elsewhere" },
    ]) {
      expect(harmOf(policy), JSON.stringify(policy)).to.deep.equal([]);
    }
  });

  it("says what a policy narrows or adds", () => {
    const policy = {
      "delivery-limit": 9,
      "max-length": 99_999,
      "max-length-bytes": 1,
      "message-ttl": 0,
      expires: 1,
      overflow: "drop-head",
    };
    expect(harmOf(policy)).to.have.lengthOf(6);
    expect(harmOf(policy)[0]).to.equal("delivery-limit 9 (notifications become dead letters sooner)");
  });
});
