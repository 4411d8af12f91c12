import BetterSqlite3 from "better-sqlite3";

type Statement = BetterSqlite3.Statement<unknown[]>;

/**
 * A database in memory that the tests, or the runs of a simulation, of a process use one after another: statements stay
 * compiled. Compiling them for each run of a simulation takes a fifth of it.
 */
export class MemoryDatabase {
  readonly connection: BetterSqlite3.Database;
  private readonly statements = new Map<string, Statement>();
  private readonly restored: readonly Statement[];

  constructor(image: Buffer) {
    const connection = (this.connection = new BetterSqlite3(image));
    connection.pragma("foreign_keys = OFF");
    connection.exec("ATTACH ':memory:' AS image");
    const tables = connection.prepare("SELECT name FROM main.sqlite_master WHERE type = 'table'").pluck().all();
    this.restored = (tables as string[]).flatMap((table) => {
      connection.exec(`CREATE TABLE image.kept_${table} AS SELECT * FROM main.${table}`);
      return [
        connection.prepare(`DELETE FROM main.${table}`),
        connection.prepare(`INSERT INTO main.${table} SELECT * FROM image.kept_${table}`),
      ];
    });
  }

  /** The rows of the image, and nothing of the run before. */
  restore(): void {
    if (this.connection.inTransaction) this.run("ROLLBACK");
    this.run("BEGIN");
    for (const statement of this.restored) statement.run();
    this.run("COMMIT");
  }

  run(sql: string): void {
    this.prepared(sql).run();
  }

  all<Row>(sql: string, ...values: readonly unknown[]): Row[] {
    return this.prepared(sql).all(...values) as Row[];
  }

  prepared(sql: string): Statement {
    let statement = this.statements.get(sql);
    if (statement === undefined) this.statements.set(sql, (statement = this.connection.prepare(sql)));
    return statement;
  }
}
