import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Holder, makeInstallation, MODEL } from "../../bench/installation.js";
import { makeMysqlInstallation, type MysqlInstallation } from "../../bench/mysql-installation.js";
import { type Server, type ServerKind, startServer } from "../../bench/servers/start.js";

interface Body {
  readonly data: unknown;
}

/** What the servers of the benchmarks respond with: a baseline that fails, or does something else, measures nothing. */
describe("The servers of the benchmarks", () => {
  const read = async (server: Server, path: string, key: string): Promise<unknown> => {
    const response = await fetch(`${server.url}${path}`, { headers: { Authorization: `Bearer ${key}` } });
    return response.status === 200 ? ((await response.json()) as Body).data : response.status;
  };
  const create = async (server: Server, key: string, idempotencyKey: string): Promise<[number, unknown]> => {
    const response = await fetch(`${server.url}/api/v1/generations`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${key}`,
        "Content-Type": "application/json",
        "Idempotency-Key": idempotencyKey,
      },
      body: JSON.stringify({ model_id: MODEL, prompt: "rain" }),
    });
    const { data } = (await response.json()) as { readonly data: Record<string, unknown> };
    const { status, model_id, credits_reserved } = data;
    return [response.status, { status, model_id, credits_reserved }];
  };
  const ACCEPTED = [202, { status: "queued", model_id: MODEL, credits_reserved: 3 }];

  describe("on SQLite", () => {
    const AVAILABLE = 1_000_000_000;
    const credits = (available: number): object => ({
      ...{ available, monthly_credits: 0, pack_credits: available, total_spent: 0 },
    });
    let installation: Awaited<ReturnType<typeof makeInstallation>>;
    before(async () => {
      installation = await makeInstallation(1);
    });
    after(() => installation.remove());

    for (const kind of ["fermata", "fermata-uncounted", "bare-knex", "bare-prepared"] satisfies ServerKind[])
      it(`${kind}: a generation is accepted once, and reserved`, async () => {
        const [{ key }] = installation.holders as [Holder];
        const server = await startServer(kind, await installation.copy());
        try {
          expect(await read(server, "/api/v1/credits", key)).to.deep.equal(credits(AVAILABLE));
          for (const idempotencyKey of ["one", "one", "two"])
            expect(await create(server, key, idempotencyKey)).to.deep.equal(ACCEPTED);
          expect(await read(server, "/api/v1/credits", key)).to.deep.equal(credits(AVAILABLE - 6));
          expect(await read(server, "/api/v1/credits", `${key}0`)).to.equal(401);
        } finally {
          await server.stop();
        }
      });
  });

  describe("on MySQL", () => {
    let folder: string;
    let installation: MysqlInstallation;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "fermata-bench-"));
      installation = await makeMysqlInstallation(folder, { accounts: 2, generations: 3 });
    });
    after(async () => {
      await installation.close();
      await rm(folder, { recursive: true, force: true });
    });

    it("bare-mysql accepts a generation once, which Fermata sees", async () => {
      const [, { key }] = installation.holders as [Holder, Holder];
      const bare = await startServer("bare-mysql", installation.storageUrl);
      const fermata = await startServer("fermata", [folder, installation.storageUrl]);
      try {
        for (const idempotencyKey of ["one", "one", "two"])
          expect(await create(bare, key, idempotencyKey)).to.deep.equal(ACCEPTED);
        const { generations } = (await read(fermata, "/api/v1/generations", key)) as {
          readonly generations: readonly { readonly status: string }[];
        };
        const statuses = generations.map(({ status }) => status);
        expect(statuses).to.deep.equal(["queued", "queued", "completed", "completed", "completed"]);
      } finally {
        for (const server of [bare, fermata]) await server.stop();
      }
    });

    it("bare-reads reads what Fermata does: a balance, and a page of generations", async () => {
      const [{ accountId, key }] = installation.holders as [Holder];
      const bare = await startServer("bare-reads", installation.storageUrl);
      const fermata = await startServer("fermata", [folder, installation.storageUrl]);
      try {
        const { pack } = (await read(bare, `/balance/${accountId}`, key)) as { readonly pack: number };
        expect(await read(fermata, "/api/v1/credits", key)).to.include({ pack_credits: pack });
        const rows = (await read(bare, `/jobs/${accountId}`, key)) as readonly { readonly id: string }[];
        const { generations } = (await read(fermata, "/api/v1/generations", key)) as {
          readonly generations: readonly { readonly id: string }[];
        };
        expect(rows.map(({ id }) => id)).to.deep.equal(generations.map(({ id }) => id));
        expect(rows).to.have.length(3);
      } finally {
        for (const server of [bare, fermata]) await server.stop();
      }
    });
  });
});
