import type { SessionsDeps } from "../adapters/http/sessions/sessions.js";
import type { Core } from "../core/create-core.js";
import type { CorePorts } from "../core/ports/core-ports.js";
import type { StudioLink } from "./app.js";
import type { Settings } from "./settings.js";

/**
 * A link that opens the studio for an account without a key; null where there is no studio. The audit log has it.
 *
 * @throws {UnknownObjectError} no such account
 */
export async function makeStudioLink(
  core: Pick<Core, "accounts">,
  ports: CorePorts,
  { studio }: Pick<Settings, "studio">,
  publicUrl: SessionsDeps["publicUrl"],
  accountId: string,
): Promise<StudioLink | null> {
  if (!studio.enabled) return null;
  const { studioCode } = await import("../adapters/http/sessions/studio-session.js");
  const { code, expiresAt } = studioCode({ ...ports, publicUrl }, accountId);
  await core.accounts.recordStudioLink(accountId, expiresAt);
  return { url: `${publicUrl.current}/#code=${encodeURIComponent(code)}`, expiresAt };
}
