import { musicProviderContract } from "../index.js";
import { harness } from "./template-harness.js";

musicProviderContract("template", harness);
