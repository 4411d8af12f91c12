import { OperationRefusedError } from "../../../core/errors.js";
import type { HostTransaction } from "../../../core/ports/unit-of-work.js";
import type { Session } from "./session.js";

/** Finds the id of the installation, whose tables a session sees. */
export const INSTALLATION_ID = "SELECT value FROM {installation} WHERE name = 'id'";

/** What {@link INSTALLATION_ID} and queries like it find. */
export interface InstallationRow {
  readonly value: string;
}

const FORMS =
  "a transaction of knex, a connection of mysql2 or better-sqlite3 with an open transaction, " +
  "or { connection, afterCommit } with one of these";

/** What a transaction of an embedding app runs on. */
export interface HostConnection {
  /** Of the driver, as the app gave it or as knex uses it. */
  readonly connection: object;
  /** Calls the listener once the transaction was committed, if the app's library tells of that. */
  afterCommit(listener: () => void): void;
}

/** The members of a transaction of knex that are used here. */
interface KnexTransaction {
  readonly isTransaction: true;
  isCompleted(): boolean;
  readonly client: { acquireConnection(): Promise<object> };
  /** Settles with the end of the transaction. */
  readonly executionPromise: Promise<unknown>;
}

/** @throws {OperationRefusedError} it is nothing that a transaction runs on, or one that has ended */
export async function hostConnectionOf(given: HostTransaction): Promise<HostConnection> {
  // What a caller in JavaScript may give.
  const value: unknown = given;
  if (!isObject(value)) throw refusedTransaction(`it is ${value === null ? "null" : typeof value}`);
  if (isKnexTransaction(value)) {
    if (value.isCompleted()) throw refusedTransaction("it has ended");
    const connection = await value.client.acquireConnection();
    return { connection, afterCommit: (listener) => void value.executionPromise.then(listener, ignoreRollback) };
  }
  const { connection, afterCommit } = value as { readonly connection?: unknown; readonly afterCommit?: unknown };
  // Also the connections of mysql2/promise are in front of another one.
  const inner = isObject(connection) ? await hostConnectionOf(connection) : { connection: value, afterCommit: ignore };
  if (typeof afterCommit !== "function") return inner;
  return { ...inner, afterCommit: (listener) => void Reflect.apply(afterCommit, value, [listener]) };
}

const turns = new WeakMap<object, Promise<unknown>>();

/** Work on one connection runs one after another: what is in one savepoint would be taken back with another's. */
export function inTurn<T>(connection: object, work: () => Promise<T>): Promise<T> {
  const run = (turns.get(connection) ?? Promise.resolve()).then(work);
  const ended = run.catch(() => undefined); // the caller gets the error
  turns.set(connection, ended);
  return run;
}

/**
 * @param find {@link INSTALLATION_ID}, which may find more @returns what it found
 * @throws {OperationRefusedError} the session does not see the tables of this installation
 */
export async function checkInstallation<Row extends InstallationRow>(
  session: Session,
  id: string,
  find = INSTALLATION_ID,
): Promise<Row> {
  const [row] = await session.all<Row>(find).catch((cause: unknown) => {
    throw refusedTransaction("its database has no tables of Fermata with this storage's prefix", { cause });
  });
  if (row?.value !== id) throw refusedTransaction("its database has the tables of another installation of Fermata");
  return row;
}

export function refusedTransaction(why: string, options?: ErrorOptions): OperationRefusedError {
  return new OperationRefusedError(`The transaction cannot be joined: ${why}. Allowed: ${FORMS}.`, options);
}

function isKnexTransaction(value: object): value is KnexTransaction {
  return (value as { readonly isTransaction?: unknown }).isTransaction === true && "executionPromise" in value;
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function ignore(): void {
  // Workers find the job at their next look.
}

function ignoreRollback(): void {
  // No job was created.
}
