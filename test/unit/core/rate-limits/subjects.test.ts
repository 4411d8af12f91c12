import { expect } from "chai";
import { SubjectKinds } from "../../../../core/rate-limits/subject-kinds.js";
import { Subjects } from "../../../../core/rate-limits/subjects.js";

const never = (): boolean => false;

describe("Subjects", () => {
  it("keeps what is set of each subject until it is deleted", () => {
    const subjects = new Subjects<number>(10);
    subjects.set("read a", 1);
    subjects.set("read a", 2);
    subjects.set("read b", 3);
    expect([subjects.get("read a"), subjects.get("read b"), subjects.size]).to.deep.equal([2, 3, 2]);
    subjects.delete("read a");
    expect([subjects.get("read a"), subjects.size]).to.deep.equal([undefined, 1]);
  });

  it("forgets two that are over with each sweep, and begins again at the end", () => {
    const subjects = new Subjects<number>(10);
    for (const index of [1, 2, 3, 4, 5]) subjects.set(`read ${index}`, index);
    subjects.sweep((entry) => entry !== 2);
    expect([subjects.get("read 1"), subjects.get("read 2"), subjects.size]).to.deep.equal([undefined, 2, 4]);
    subjects.sweep((entry) => entry !== 2);
    expect(subjects.size).to.equal(2);
    subjects.sweep((entry) => entry !== 2);
    expect([subjects.get("read 2"), subjects.size]).to.deep.equal([2, 1]);
    // The end was reached: the next sweep looks at the first again.
    subjects.sweep(() => true);
    expect(subjects.size).to.equal(0);
  });

  it("keeps what is not over while there are no more than it may hold, and forgets what is beyond", () => {
    const subjects = new Subjects<number>(2);
    for (const index of [1, 2]) subjects.set(`read ${index}`, index);
    subjects.sweep(never);
    expect(subjects.size).to.equal(2);
    for (const index of [3, 4]) subjects.set(`read ${index}`, index);
    for (let sweeps = 0; sweeps < 3; sweeps++) subjects.sweep(never);
    expect(subjects.size).to.equal(2);
  });
});

describe("SubjectKinds", () => {
  const open = { isFull: false };
  const full = { isFull: true };

  it("keeps kinds apart: many of one push out none of another", () => {
    const kinds = new SubjectKinds<number>(2);
    kinds.of("read a").set("read a", 1, open);
    for (let index = 0; index < 20; index++) {
      kinds.of(`auth ${index}`).set(`auth ${index}`, index, open);
      kinds.of(`auth ${index}`).sweep(never);
    }
    expect(kinds.of("read a").get("read a")).to.equal(1);
    expect(kinds.of("auth 0").get("auth 0")).to.equal(undefined);
    expect(kinds.of("auth 19").get("auth 19")).to.equal(19);
    expect(kinds.size).to.equal(3);
  });

  it("keeps used-up windows apart from others of their kind, half as many", () => {
    const kinds = new SubjectKinds<number>(4);
    kinds.of("auth full").set("auth full", 1, full);
    for (let index = 0; index < 20; index++) {
      kinds.of(`auth ${index}`).set(`auth ${index}`, index, open);
      kinds.of(`auth ${index}`).sweep(never);
    }
    expect([
      kinds.of("auth full").get("auth full"),
      kinds.of("auth full").isFull("auth full"),
      kinds.of("auth 19").isFull("auth 19"),
    ]).to.deep.equal([1, true, false]);
    for (let index = 0; index < 20; index++) {
      kinds.of(`auth full ${index}`).set(`auth full ${index}`, index, full);
      kinds.of("auth x").sweep(never);
    }
    expect(kinds.of("auth full").get("auth full")).to.equal(undefined);
    expect(kinds.size).to.equal(4 + 2);
  });

  it("moves a subject when its windows are used up, and back", () => {
    const kinds = new SubjectKinds<number>(4);
    kinds.of("read a").set("read a", 1, open);
    kinds.of("read a").set("read a", 2, full);
    expect([kinds.of("read a").get("read a"), kinds.of("read a").isFull("read a"), kinds.size]).to.deep.equal([
      2,
      true,
      1,
    ]);
    kinds.of("read a").set("read a", 3, open);
    expect([kinds.of("read a").get("read a"), kinds.of("read a").isFull("read a"), kinds.size]).to.deep.equal([
      3,
      false,
      1,
    ]);
    kinds.of("read a").sweep(() => true);
    expect([kinds.of("read a").get("read a"), kinds.size]).to.deep.equal([undefined, 0]);
  });

  it("takes subjects without a kind for one of their own", () => {
    const kinds = new SubjectKinds<number>(4);
    kinds.of("alone").set("alone", 1, open);
    expect([
      kinds.of("alone").get("alone"),
      kinds.of("other").get("other"),
      kinds.of("alone").isFull("alone"),
    ]).to.deep.equal([1, undefined, false]);
  });
});
