import { expect } from "chai";
import sinon from "sinon";
import { MysqlSession } from "../../adapters/storage/sql/mysql/session.js";
import type { Session, SqlValue } from "../../adapters/storage/sql/session.js";
import { SqliteSession } from "../../adapters/storage/sql/sqlite/session.js";
import type { AccountId, IdPrefix, WebhookDeliveryId, WebhookEndpointId, WebhookEventId } from "../../core/ids.js";
import { anId, NOON } from "../support/builders.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";
import { anEndpoint, aDeliveryAttempt } from "../support/webhook-builders.js";

type Storage = SqliteUnderTest | MysqlUnderTest;

const TABLES = [
  "fermata_webhook_endpoints",
  "fermata_webhook_events",
  "fermata_webhook_deliveries",
  "fermata_webhook_tries",
] as const;
/** Of these, the first 12,000 are pending at one endpoint; of the others every 20th is pending too. */
const ROWS = 20_000;
const BACKLOG = 12_000;
/** Only a count reads more index entries than this. */
const FEW_ROWS = 1_000;

const CROWDED = idOf("whe", 0);
const QUIET = idOf("whe", 7);
const ACCOUNT = idOf("acct", 7);

/** A statement of an operation. */
interface Asked {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** How an engine executes a statement. */
interface Plan {
  /** The indexes it searches, in its order; `id` for the primary key, null for a full scan. */
  readonly indexes: readonly (string | null)[];
  readonly sorts: boolean;
  readonly notified: string;
}

/** The indexes that each operation uses, without the webhooks' prefix. Found rows are then fetched by id. */
const OPERATIONS: Readonly<
  Record<string, { readonly by: readonly string[]; readonly sorts?: boolean; run(storage: Storage): Promise<unknown> }>
> = {
  "endpointsWithDue, where something piled up": {
    by: ["deliveries_next", "deliveries_due"],
    run: ({ webhooks }) => webhooks.endpointsWithDue(NOON + ROWS, null),
  },
  "endpointsWithDue, where little is due": {
    by: ["deliveries_next"],
    run: ({ webhooks }) => webhooks.endpointsWithDue(NOON + 5, null),
  },
  "claimDeliveries alongside a backlog": {
    by: ["deliveries_due", "id"],
    run: ({ webhooks }) => {
      const claims = [CROWDED, QUIET].map((endpointId) => ({ endpointId, limit: 3 }));
      return webhooks.claimDeliveries(claims, NOON + ROWS, anId("prc"), NOON + 2 * ROWS);
    },
  },
  updateDeliveries: {
    by: ["id"],
    run: (storage) =>
      storage.inTransaction((tx) =>
        storage.webhooks.updateDeliveries(tx, [{ id: idOf("dlv", 15_000), fence: 0, changes: { attempts: 1 } }]),
      ),
  },
  dropPending: {
    by: ["deliveries_endpoint", "id"],
    run: (storage) => storage.inTransaction((tx) => storage.webhooks.dropPending(tx, idOf("whe", 8), NOON)),
  },
  findDelivery: { by: ["id"], run: ({ webhooks }) => webhooks.findDelivery(idOf("dlv", 77)) },
  deliveriesOfJob: {
    by: ["events_age", "deliveries_event"],
    sorts: true,
    run: ({ webhooks }) => webhooks.deliveriesOfJob(anId("job"), NOON + 77),
  },
  "listDeliveries, the newest": {
    by: ["deliveries_endpoint", "id"],
    sorts: true,
    run: ({ webhooks }) => webhooks.listDeliveries({ endpointId: CROWDED, order: "newest", limit: 20 }),
  },
  "listDeliveries, a page in the middle": {
    by: ["deliveries_endpoint", "id"],
    sorts: true,
    run: ({ webhooks }) => {
      const after = { createdAt: NOON + 6_000, id: idOf("dlv", 6_000) };
      return webhooks.listDeliveries({ endpointId: CROWDED, order: "newest", limit: 20, after });
    },
  },
  "listDeliveries of rare states, the oldest since a moment": {
    by: ["deliveries_endpoint", "id"],
    sorts: true,
    run: ({ webhooks }) => {
      const after = { createdAt: NOON + 13_000, id: idOf("dlv", 13_000) };
      return webhooks.listDeliveries({
        endpointId: QUIET,
        order: "oldest",
        since: NOON,
        states: ["exhausted", "dropped"],
        after,
        limit: 20,
      });
    },
  },
  nextDeliveryAt: { by: ["deliveries_next"], run: ({ webhooks }) => webhooks.nextDeliveryAt() },
  findEvents: { by: ["id"], run: ({ webhooks }) => webhooks.findEvents([idOf("evt", 1), idOf("evt", 2)]) },
  listEvents: {
    by: ["events_numbers"],
    run: ({ webhooks }) => webhooks.listEvents(idOf("acct", 0), 15_000, 100),
  },
  insertTries: {
    by: ["id"],
    run: (storage) =>
      storage.inTransaction((tx) =>
        storage.webhooks.insertDeliveryAttempts(
          tx,
          [19_000, 18_000].map((number) => aDeliveryAttempt({ deliveryId: idOf("dlv", number) })),
        ),
      ),
  },
  tryLockDeliveries: {
    by: ["id"],
    run: (storage) =>
      storage.inTransaction((tx) => storage.webhooks.tryLockDeliveries(tx, [idOf("dlv", 19_000), idOf("dlv", 18_000)])),
  },
  listTries: { by: ["id"], run: ({ webhooks }) => webhooks.listDeliveryAttempts([idOf("dlv", 1), idOf("dlv", 2)]) },
  deleteOld: {
    by: ["events_age", "deliveries_event", "id"],
    run: (storage) => storage.inTransaction((tx) => storage.webhooks.deleteOld(tx, NOON + 100, 20)),
  },
  lockEndpoints: {
    by: ["endpoints_account", "id"],
    run: (storage) => storage.inTransaction((tx) => storage.webhooks.lockEndpoints(tx, ACCOUNT)),
  },
  lockEndpoint: {
    by: ["id"],
    run: (storage) => storage.inTransaction((tx) => storage.webhooks.lockEndpoint(tx, QUIET)),
  },
  saveEndpoint: {
    by: ["id"],
    run: (storage) =>
      storage.inTransaction((tx) => storage.webhooks.saveEndpoint(tx, anEndpoint({ id: QUIET, accountId: ACCOUNT }))),
  },
  deleteEndpoint: {
    by: ["id"],
    run: (storage) => storage.inTransaction((tx) => storage.webhooks.deleteEndpoint(tx, idOf("whe", 299))),
  },
  listEndpoints: { by: ["endpoints_account"], sorts: true, run: ({ webhooks }) => webhooks.listEndpoints(ACCOUNT) },
  findEndpoints: { by: ["id"], run: ({ webhooks }) => webhooks.findEndpoints([QUIET, CROWDED]) },
  listAllEndpoints: { by: ["id"], run: ({ webhooks }) => webhooks.listAllEndpoints(QUIET, 20) },
  activeEndpoints: {
    by: ["endpoints_account"],
    run: (storage) => storage.inTransaction((tx) => storage.webhooks.activeEndpoints(tx, [ACCOUNT, idOf("acct", 8)])),
  },
};

for (const { name, open, session } of [
  { name: "SQLite", open: () => sqliteStorage.open(), session: SqliteSession.prototype },
  { name: "MySQL", open: () => mysqlStorage.open(), session: MysqlSession.prototype },
]) {
  describe(`Plans of the webhooks' queries: ${name}`, function () {
    this.timeout(60_000);
    const isMysql = name === "MySQL";

    let storage: Storage;
    before(async () => {
      storage = await open();
      await fill(storage);
    });
    after(() => storage.close());
    afterEach(() => sinon.restore());

    /** The statements of an operation, except inserts. */
    async function askedBy(operation: string): Promise<Asked[]> {
      const single = (["all", "run"] as const).map((method) => sinon.spy(session, method));
      const each = (["allEach", "runEach", "writeEach"] as const).map((method) => sinon.spy(session, method));
      await OPERATIONS[operation]?.run(storage);
      const asked = [
        ...single.flatMap(({ args }) => args.map(([text, values = []]) => ({ text, values }))),
        ...each.flatMap(({ args }) => args.flatMap(([text, lists]) => lists.map((values) => ({ text, values })))),
      ];
      sinon.restore();
      return asked.filter(({ text }) => /^(SELECT|UPDATE|DELETE) /.test(text));
    }
    const explain = (asked: Asked): Promise<Plan> =>
      isMysql ? explainMysql(storage, asked) : explainSqlite(storage, asked);

    for (const [operation, { by, sorts = false }] of Object.entries(OPERATIONS)) {
      it(`${operation}: uses ${by.join(", ")}`, async () => {
        const used = new Set<string | null>();
        for (const asked of await askedBy(operation)) {
          const plan = await explain(asked);
          for (const index of plan.indexes) used.add(index);
          expect(plan.indexes, plan.notified).to.not.include(null);
          expect(plan.sorts && !sorts, plan.notified).to.equal(false);
          if (isMysql) expect(await entriesReadBy(storage, asked), asked.text).to.be.below(FEW_ROWS);
        }
        // MySQL finds the minimum of an index while it plans: nothing is left to search.
        const expected = isMysql && operation === "nextDeliveryAt" ? [] : by;
        const indexes = expected.map((index) => (index === "id" ? index : `fermata_webhook_${index}`));
        expect([...used]).to.have.members(indexes);
      });
    }

    it("countPending reads only an index", async () => {
      const { args } = sinon.spy(session, "all");
      await storage.webhooks.countPending();
      const [text = "", values = []] = args.at(-1) ?? [];
      const plan = await explain({ text, values });
      expect(plan.indexes, plan.notified).to.deep.equal(["fermata_webhook_deliveries_next"]);
      expect(plan.notified).to.match(/Using index|COVERING INDEX/);
    });

    it("statements that change or lock rows find them by id; claims and retention wait for no lock", async () => {
      for (const operation of Object.keys(OPERATIONS)) {
        for (const asked of await askedBy(operation)) {
          if (asked.text.startsWith("SELECT") && !asked.text.endsWith(" FOR UPDATE")) continue;
          const plan = await explain(asked);
          expect(plan.indexes, plan.notified).to.deep.equal(["id"]);
        }
      }
    });

    it("a scan and a sort are detected", async () => {
      const asked = { text: "SELECT * FROM fermata_webhook_deliveries WHERE attempts = ? ORDER BY fence", values: [1] };
      const plan = await explain(asked);
      expect([plan.indexes, plan.sorts], plan.notified).to.deep.equal([[null], true]);
      if (isMysql) expect(await entriesReadBy(storage, asked)).to.be.above(FEW_ROWS);
    });
  });
}

async function explainSqlite({ database }: Storage, { text, values }: Asked): Promise<Plan> {
  const rows = await database.reading((session) =>
    session.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, values),
  );
  const details = rows.map(({ detail }) => detail);
  // Derived tables have names of their own.
  const reads = details.filter((detail) => /^(SCAN|SEARCH) (?!part|\(|first_ids)/.test(detail));
  return {
    indexes: reads.map((detail) => {
      const index = /^SEARCH .* USING (?:COVERING )?INDEX (\w+)/.exec(detail)?.[1];
      return index === undefined ? null : index.startsWith("sqlite_autoindex") ? "id" : index;
    }),
    sorts: details.some((detail) => detail.includes("TEMP B-TREE FOR")),
    notified: `${text}\n${details.join("\n")}`,
  };
}

interface PlanRow {
  readonly table: string | null;
  readonly type: string | null;
  readonly key: string | null;
  readonly Extra: string | null;
}

async function explainMysql({ database }: Storage, { text, values }: Asked): Promise<Plan> {
  const rows = await database.reading((session) => session.all<PlanRow>(`EXPLAIN FORMAT=TRADITIONAL ${text}`, values));
  const reads = rows.filter(
    ({ table, Extra }) =>
      table !== null && !/^</.test(table) && !/no matching row|const row not found/i.test(Extra ?? ""),
  );
  return {
    // Type `index` scans a whole index, `ALL` a whole table.
    indexes: reads.map(({ type, key }) => (key === null || type === "index" ? null : key === "PRIMARY" ? "id" : key)),
    sorts: rows.some(({ Extra }) => /filesort/.test(Extra ?? "")),
    notified: `${text}\n${rows.map((row) => JSON.stringify(row)).join("\n")}`,
  };
}

/** How many index entries MySQL read, without its temporary tables. */
function entriesReadBy({ database }: Storage, { text, values }: Asked): Promise<number> {
  return database.transaction(async (session) => {
    const before = await reads(session);
    await session.all(text, values);
    return (await reads(session)) - before;
  });
}

async function reads(session: Session): Promise<number> {
  const counters = await session.all<{ Variable_name: string; Value: string }>(
    "SHOW SESSION STATUS LIKE 'Handler_read_%'",
  );
  const ofIndexes = counters.filter(({ Variable_name }) => /_(first|key|last|next|prev)$/i.test(Variable_name));
  return ofIndexes.reduce((sum, { Value }) => sum + Number(Value), 0);
}

interface NumberedIds {
  acct: AccountId;
  evt: WebhookEventId;
  whe: WebhookEndpointId;
  dlv: WebhookDeliveryId;
}

function idOf<P extends IdPrefix & keyof NumberedIds>(prefix: P, number: number): NumberedIds[P] {
  return `${prefix}_${String(number).padStart(26, "0")}` as NumberedIds[P];
}

/** 300 endpoints of as many accounts; an event, a delivery and a delivery attempt for each number. */
async function fill({ database }: Storage): Promise<void> {
  const isMysql = database.dialect.name === "mysql";
  const id = (prefix: string, number: string): string =>
    isMysql ? `CONCAT('${prefix}_', LPAD(${number}, 26, '0'))` : `'${prefix}_' || printf('%026d', ${number})`;
  // Numbers built from digits: MySQL refuses a recursion that deep by default.
  const digits = `(${Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS d`).join(" UNION ALL ")})`;
  const numbers = `(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n
    FROM ${digits} a, ${digits} b, ${digits} c, ${digits} e, (SELECT 0 AS d UNION ALL SELECT 1) f) AS numbers`;
  const endpoint = `CASE WHEN n < ${BACKLOG} THEN 0 ELSE n % 300 END`;
  const isPending = `(n < ${BACKLOG} OR n % 20 = 7)`;
  const moment = `${NOON} + n`;
  for (const text of [
    `INSERT INTO fermata_accounts (id, name, tier, email_verified, created_at)
      SELECT ${id("acct", "n")}, 'Nightingale', 'pro', 0, ${NOON} FROM ${numbers} WHERE n < 300`,
    `INSERT INTO fermata_webhook_endpoints (id, account_id, url, status, secret_prefix, sealed_secret, retired_secrets,
      created_at, updated_at, health)
      SELECT ${id("whe", "n")}, ${id("acct", "n")}, 'https://hooks.example/', 'active', 'whsec_', 'v1.', '[]', ${NOON},
      ${NOON},
      '{"streak":null,"breaker":null}' FROM ${numbers} WHERE n < 300`,
    `INSERT INTO fermata_webhook_events (id, account_id, number, type, created_at, body)
      SELECT ${id("evt", "n")}, ${id("acct", endpoint)}, n, 'generation.completed', ${moment}, '{}' FROM ${numbers}`,
    `INSERT INTO fermata_webhook_deliveries (id, event_id, endpoint_id, state, attempts, fence, due_at, created_at,
      ended_at)
      SELECT ${id("dlv", "n")}, ${id("evt", "n")}, ${id("whe", endpoint)},
        CASE WHEN ${isPending} THEN 'pending' WHEN n % 31 = 0 THEN 'exhausted' ELSE 'delivered' END, 1, 0,
        CASE WHEN ${isPending} THEN ${moment} END, ${moment}, CASE WHEN ${isPending} THEN NULL ELSE ${moment} END
        FROM ${numbers}`,
    `INSERT INTO fermata_webhook_tries (delivery_id, number, started_at, is_manual, status, phases, excerpt)
      SELECT ${id("dlv", "n")}, 1, ${moment}, 0, 204, '{}', '' FROM ${numbers}`,
    ...(isMysql ? [`ANALYZE TABLE ${TABLES.join(", ")}`] : []),
  ]) {
    await database.write.raw(text);
  }
}
