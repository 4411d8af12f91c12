import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import type { ConsumeMessage, Message } from "amqplib";
import { Acknowledgements } from "../../../adapters/queue/rabbitmq/acknowledgements.js";

/** A channel of which the broker has delivered so many messages, and what it still holds of them. */
function delivered(count: number) {
  const held = new Set(Array.from({ length: count }, (_, index) => index + 1));
  const state = { frames: 0, rejected: [] as number[], isClosed: false };
  const settle = ({ fields: { deliveryTag } }: Message, isForAllBefore: boolean): void => {
    if (state.isClosed) throw new Error("The channel is closed.");
    if (!held.has(deliveryTag)) throw new Error(`The broker does not hold ${deliveryTag}; it would close the channel.`);
    state.frames += 1;
    for (const tag of held) if (tag === deliveryTag || (isForAllBefore && tag < deliveryTag)) held.delete(tag);
  };
  const acknowledgements = new Acknowledgements({
    ack: (message, isForAllBefore = false) => settle(message, isForAllBefore),
    reject: (message) => {
      settle(message, false);
      state.rejected.push(message.fields.deliveryTag);
    },
  });
  const ends = [...held].map((deliveryTag) =>
    acknowledgements.receive({ fields: { deliveryTag } } as unknown as ConsumeMessage),
  );
  return { acknowledgements, ends, state, held: () => [...held] };
}

describe("Acknowledgements", () => {
  it("of messages that end in one turn are one frame", async () => {
    const { ends, state, held } = delivered(3);
    for (const end of ends) end(true);
    expect(held()).to.deep.equal([1, 2, 3]);
    await nextTurn();
    expect([held(), state.frames]).to.deep.equal([[], 1]);
  });

  it("leave what is still processed, and name what is behind it", async () => {
    const { ends, held, state } = delivered(5);
    for (const index of [4, 0, 1, 3]) ends[index]?.(true);
    await nextTurn();
    expect([held(), state.frames]).to.deep.equal([[3], 3]);
    ends[2]?.(true);
    await nextTurn();
    expect(held()).to.deep.equal([]);
  });

  it("leave out what was rejected, at once", async () => {
    const { ends, held, state } = delivered(3);
    ends[0]?.(true);
    ends[1]?.(false);
    expect([held(), state.rejected]).to.deep.equal([[1, 3], [2]]);
    ends[2]?.(true);
    await nextTurn();
    expect([held(), state.rejected]).to.deep.equal([[], [2]]);
  });

  it("are sent early on request, and no second time", async () => {
    const { acknowledgements, ends, held, state } = delivered(2);
    for (const end of ends) end(true);
    acknowledgements.flush();
    expect(held()).to.deep.equal([]);
    await nextTurn();
    expect(state.frames).to.equal(1);
  });

  it("on a closed channel are left out", async () => {
    const { ends, held, state } = delivered(2);
    state.isClosed = true;
    ends[0]?.(true);
    ends[1]?.(false);
    await nextTurn();
    expect(held()).to.deep.equal([1, 2]);
  });
});
