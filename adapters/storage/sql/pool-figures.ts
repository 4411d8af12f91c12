import type { Knex } from "knex";
import type { Pool } from "tarn";
import type { PoolFigures } from "../../../core/ports/opened-storage.js";

/** How the pool of a handle is used now. */
export function poolFiguresOf(name: string, handle: Knex, max: number): PoolFigures {
  const { pool } = handle.client as { readonly pool: Pool<unknown> };
  return {
    pool: name,
    used: pool.numUsed(),
    free: pool.numFree(),
    waiting: pool.numPendingAcquires(),
    max,
  };
}
