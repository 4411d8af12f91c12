import { Boundary, type CrashPlan } from "./boundary.js";

/** The settings of this process that are none of Fermata's. */
const { FERMATA_TEST_CRASH: given = "null", FERMATA_STORAGE__URL: storageUrl = "" } = process.env;

const plan = JSON.parse(given) as CrashPlan | null;
const databasePort = storageUrl.startsWith("mysql:") ? Number(new URL(storageUrl).port || "3306") : null;

/** The boundary of this process, which its adapters share. */
export const boundary = new Boundary(plan, databasePort);
