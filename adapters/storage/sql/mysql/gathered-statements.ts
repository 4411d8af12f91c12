import { assert } from "../../../../core/assert.js";
import type { SqlValue } from "../session.js";
import { joined, lengthOf } from "./packets.js";

/** How statements travel: the texts of one packet, and all their values. @returns a result for each, in their order */
export type SendPacket<Result> = (texts: readonly string[], values: readonly SqlValue[]) => Promise<readonly Result[]>;

interface Member<Result> {
  readonly text: string;
  readonly values: readonly SqlValue[];
  /** null: no caller waits for the result. */
  readonly waiting: { resolve(result: Result): void; reject(error: unknown): void } | null;
}

/**
 * The statements of one transaction on their way to the server. Those that return nothing travel with the next one that
 * returns something, and those that are given in one tick travel together. They are carried out in their order. The
 * first that fails ends everything: what comes after it is not sent, and gets its error.
 */
export class GatheredStatements<Result> {
  private members: Member<Result>[] = [];
  private characters = 0;
  private isDue = false;
  private isEnded = false;
  private sent: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly send: SendPacket<Result>,
    private readonly limits: { readonly statements: number; readonly characters: number },
  ) {}

  /** A statement whose result no caller needs; its error is that of a later one. Waits only where they are too many. */
  async later(text: string, values: readonly SqlValue[]): Promise<void> {
    if (this.add({ text, values, waiting: null })) return;
    await this.sent;
  }

  resultOf(text: string, values: readonly SqlValue[]): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.add({ text, values, waiting: { resolve, reject } });
      if (this.isDue) return;
      this.isDue = true;
      queueMicrotask(() => {
        this.isDue = false;
        this.sendMembers();
      });
    });
  }

  /** What was not sent stays so. */
  end(): void {
    this.isEnded = true;
  }

  /** @returns false where those before it had to be sent first */
  private add(member: Member<Result>): boolean {
    const length = lengthOf(member.values);
    const { statements, characters } = this.limits;
    const isFull = this.members.length === statements || this.characters + length > characters;
    if (isFull) this.sendMembers();
    this.members.push(member);
    this.characters += length;
    return !isFull;
  }

  private sendMembers(): void {
    const { members } = this;
    if (members.length === 0) return;
    [this.members, this.characters] = [[], 0];
    const texts = members.map(({ text }) => text);
    const values = joined(members.map((member) => member.values));
    const send = (): Promise<readonly Result[]> => {
      assert(!this.isEnded, "a transaction is used only while its work runs");
      return this.send(texts, values);
    };
    this.sent = this.sent.then(send).then(
      (results) => members.forEach(({ waiting }, index) => waiting?.resolve(results[index] as Result)),
      (error: unknown) => {
        for (const { waiting } of members) waiting?.reject(error);
        throw error;
      },
    );
    // Callers that wait for a result have the error; where none does, the next one gets it.
    this.sent.catch(() => undefined);
  }
}
