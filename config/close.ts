import type { WorkingProvider } from "../core/execution/working-provider.js";
import type { Logger } from "../core/ports/logger.js";

/** Runs each closer after the one before, also when that failed: nothing may use what is closed already. */
export async function closeInOrder(closers: readonly (() => Promise<unknown>)[], logger: Logger): Promise<void> {
  for (const close of closers) {
    try {
      await close();
    } catch (error) {
      logger.error("A part could not be closed", { error });
    }
  }
}

/** One that cannot be closed keeps no other open. */
export async function closeProviders(providers: readonly WorkingProvider[], logger: Logger): Promise<void> {
  for (const { id, provider } of providers) {
    try {
      await provider.close?.();
    } catch (error) {
      logger.error("A plugin could not be closed", { error, provider: id });
    }
  }
}
