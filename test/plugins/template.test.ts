import { musicProviderContract } from "../contracts.js";
import { harness } from "./template-harness.js";

musicProviderContract("template", harness);
