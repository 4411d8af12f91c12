import type { Session, SqlValue } from "../session.js";

/** A write that counts only while the row still has this fence. */
export interface GuardedUpdate<Id extends string> {
  readonly id: Id;
  readonly fence: number;
  readonly columns: readonly string[];
  /** Of the columns, in their order. */
  readonly values: readonly SqlValue[];
}

interface Group<Id extends string> {
  readonly text: string;
  readonly members: { readonly id: Id; readonly values: readonly SqlValue[] }[];
}

/** Writes each update whose fence still holds, in their order. @returns the ids of those written */
export async function writeGuarded<Id extends string>(
  session: Session,
  table: string,
  updates: readonly GuardedUpdate<Id>[],
): Promise<Set<Id>> {
  const groups = groupByText(table, updates).map(async ({ text, members }) => {
    const counts = await session.runEach(
      text,
      members.map((member) => member.values),
    );
    return members.filter((_, index) => (counts[index] ?? 0) > 0).map(({ id }) => id);
  });
  return new Set((await Promise.all(groups)).flat());
}

/** Neighbours that change the same columns share a statement; the order stays, since one row may be named twice. */
function groupByText<Id extends string>(table: string, updates: readonly GuardedUpdate<Id>[]): Group<Id>[] {
  const groups: Group<Id>[] = [];
  for (const { id, fence, columns, values } of updates) {
    const assignments = columns.length === 0 ? "fence = fence" : columns.map((column) => `${column} = ?`).join(", ");
    const text = `UPDATE {${table}} SET ${assignments} WHERE id = ? AND fence = ?`;
    const member = { id, values: [...values, id, fence] };
    const last = groups.at(-1);
    if (last?.text === text) last.members.push(member);
    else groups.push({ text, members: [member] });
  }
  return groups;
}
