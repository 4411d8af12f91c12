/** The long form of `api/model`, on the embedded default or on what `FERMATA_TEST_STACK` names. */
process.env["FERMATA_TEST_MODEL_RUNS"] ??= "300";
await import("../../api/model/model.test.js");
