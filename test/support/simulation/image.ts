import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { createStores, openDatabase } from "../../../adapters/storage/sql/index.js";
import { createCore } from "../../../core/create-core.js";
import { KeyStates } from "../../../core/secrets/key-states.js";
import type { TrackId } from "../../../core/ids.js";
import type { Account } from "../../../core/ports/account.js";
import { SeededRandom } from "../chaos/seeded-random.js";
import { anAsset, aTrack } from "../builders.js";
import { corePorts } from "../core-ports.js";
import { createMigratedFile, SILENT, temporaryFolder } from "../databases.js";
import { ManualClock } from "../doubles/manual-clock.js";
import { serialized } from "../memory-storage.js";
import { SIM_OPTIONS, simPorts, SimRandom } from "./options.js";

/** What every run begins with: the schema, and accounts with credits and an endpoint each. */
export interface Image {
  readonly database: Buffer;
  readonly accounts: readonly Account[];
  readonly urls: readonly string[];
  /** A track of each account, that it can have split. */
  readonly trackIds: readonly TrackId[];
}

/** The first accounts can pay for so much; the last one for a few jobs alone. */
const CREDITS = 10_000;
const FEW_CREDITS = 50;

export const STARTS_AT = Date.parse("2026-11-21T06:30:00.000Z");

export async function createImage(accounts: number): Promise<Image> {
  const file = join(await temporaryFolder(), "image.db");
  await createMigratedFile(file);
  const created = await fill(file, accounts);
  const database = new BetterSqlite3(file);
  database.prepare("UPDATE fermata_installation SET value = ? WHERE name = 'id'").run("simulation");
  database.close();
  return { database: await serialized(file), ...created };
}

async function fill(file: string, count: number): Promise<Omit<Image, "database">> {
  const database = await openDatabase({ url: `sqlite:${file}`, logger: SILENT });
  const [clock, random] = [new ManualClock(STARTS_AT - 60_000), new SimRandom(new SeededRandom(1))];
  const stores = createStores(database, { clock, random });
  const { audio, assetOpener, audioAnalyser, coverPainter, queue, webhookSender } = corePorts(stores, { clock });
  const given = { audio, assetOpener, audioAnalyser, coverPainter, queue, webhookSender, logger: SILENT };
  const ports = simPorts(stores, clock, random, given);
  await new KeyStates(ports).open(ports.secretKeys, clock.now());
  const core = createCore(ports, SIM_OPTIONS);
  const accounts: Account[] = [];
  const urls: string[] = [];
  const trackIds: TrackId[] = [];
  for (let number = 0; number < count; number++) {
    const account = await core.accounts.create({ name: `account ${number}`, tier: "pro", acceptTerms: true });
    await core.credits.grant(account.id, number === count - 1 ? FEW_CREDITS : CREDITS, { bucket: "pack" });
    const url = `https://hooks-${number}.example/`;
    await core.webhooks.endpoints.create(account.id, url);
    accounts.push(account);
    urls.push(url);
    const trackId = ports.ids.next("trk");
    const assets = [anAsset({ audioKey: `audio/${trackId}.mp3` })];
    const track = aTrack({ id: trackId, accountId: account.id, assets, createdAt: clock.now() });
    await stores.unitOfWork.inTransaction((tx) => stores.library.insertTracks(tx, [track]));
    trackIds.push(trackId);
  }
  await database.close();
  return { accounts, urls, trackIds };
}
