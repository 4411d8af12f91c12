import { assert } from "../../../core/assert.js";
import type { InstallationStore } from "../../../core/ports/installation-store.js";
import type { Transaction, UnitOfWork } from "../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "./database.js";
import { sessionOf, type Table } from "./session.js";

interface InstallationRow {
  readonly name: string;
  readonly value: string;
}

const INSTALLATION: Table<InstallationRow> = { name: "installation", columns: ["name", "value"], key: ["name"] };
const FIND = "SELECT name, value FROM {installation} WHERE name = ?";

export class KnexInstallationStore implements InstallationStore {
  constructor(
    private readonly database: KnexDatabase,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async find(name: string): Promise<string | null> {
    const [row] = await this.database.reading((session) => session.all<InstallationRow>(FIND, [name]));
    return row?.value ?? null;
  }

  keepFirst(name: string, value: string): Promise<string> {
    return this.unitOfWork.inTransaction(async (tx) => {
      const session = sessionOf(tx);
      if ((await session.all<InstallationRow>(FIND, [name])).length === 0)
        await session.insert(INSTALLATION, [{ name, value }]);
      const [kept] = await session.all<InstallationRow>(FIND, [name]);
      assert(kept !== undefined, "what was inserted is there");
      return kept.value;
    });
  }

  async keep(name: string, value: string): Promise<void> {
    await this.unitOfWork.inTransaction((tx) => this.write(tx, name, value));
  }

  async lock(tx: Transaction, name: string): Promise<string | null> {
    const [row] = await sessionOf(tx).all<InstallationRow>(FIND + this.database.dialect.forUpdate, [name]);
    return row?.value ?? null;
  }

  async tryLock(tx: Transaction, name: string): Promise<boolean> {
    return (await sessionOf(tx).all(FIND + this.database.dialect.forClaim, [name])).length > 0;
  }

  write(tx: Transaction, name: string, value: string): Promise<void> {
    return sessionOf(tx).upsert(INSTALLATION, [{ name, value }]);
  }
}
