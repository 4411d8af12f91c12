import { adapterContract } from "fermata-music/testing/contracts";
import queue from "./queue.js";

// The suite leaves streams behind: a database, or a prefix, of its own.
const url = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379/15";
adapterContract("Redis Streams", queue, { url, settings: { prefix: `test-${process.pid}` } });
