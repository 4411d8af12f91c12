/**
 * What the tables and indexes of one storage are called in its database. SQL has `{jobs}` where it means the table that
 * the database may know as `fermata_jobs`; so texts stay constants, whatever the prefix is.
 */
export class TableNames {
  private readonly texts = new Map<string, string>();

  /** @param prefix `storage.tablePrefix` */
  constructor(readonly prefix: string) {}

  /** `jobs` → `fermata_jobs` */
  of(name: string): string {
    return this.prefix + name;
  }

  /** The text with the real names in it. The texts of the stores are few, and each is read once. */
  in(sql: string): string {
    let text = this.texts.get(sql);
    if (text === undefined) {
      text = sql.replace(MARKED, (_, name: string) => this.of(name));
      this.texts.set(sql, text);
    }
    return text;
  }
}

const MARKED = /\{([a-z_]+)\}/g;
