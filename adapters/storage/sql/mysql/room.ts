/**
 * InnoDB moves a row that grows by a byte within its page. The pages of jobs are full, since their ids ascend: it puts
 * such a page in order for each row that grows, which takes as long as all else about a change of that row. Rows of
 * jobs therefore stay of one size: what is filled in takes the room of blanks.
 */
const JOB_BYTES = 60;

const TEXTS = ["status", "phase", "lease_owner", "ended_by"];
const NUMBERS = ["due_at", "completed_at", "end_number"];

/** Columns have their new values here: the server assigns from left to right. What is null takes no room. */
const BLANKS = [
  ...TEXTS.map((column) => `COALESCE(LENGTH(${column}), 0)`),
  ...NUMBERS.map((column) => `IF(${column} IS NULL, 0, 8)`),
].join(" - ");

/** Ends the assignments of an UPDATE of this table. */
export function keepsSize(table: string): string {
  return table === "jobs" ? `, room = SPACE(${JOB_BYTES} - ${BLANKS})` : "";
}
