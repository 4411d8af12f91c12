import { openProviderSandbox } from "../../adapters/sandbox/index.js";
import { providerSandboxContract } from "../contract/provider-sandbox.contract.js";

providerSandboxContract("child processes", openProviderSandbox);
