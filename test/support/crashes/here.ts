import { Boundary, type CrashPlan } from "./boundary.js";

/** The settings of this process that are none of Fermata's. */
const { FERMATA_TEST_CRASH: given = "[]", FERMATA_STORAGE__URL: storageUrl = "" } = process.env;

const plans = JSON.parse(given) as readonly CrashPlan[];
const databasePort = storageUrl.startsWith("mysql:") ? Number(new URL(storageUrl).port || "3306") : null;

/** The boundary of this process, which its adapters share. */
export const boundary = new Boundary(plans, databasePort);
