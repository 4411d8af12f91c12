/**
 * What is counted and summed of requests is kept of all clients together, and of each client once more: both are read
 * alone.
 */
export const ALL_CLIENTS = "*";

/** As the column `client` of such a table has it. */
export function keyOfClient(client: string): string {
  return `=${client}`;
}
