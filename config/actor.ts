import { userInfo } from "node:os";

/**
 * The operator of a command, for the audit log: the user of the operating system, and who became it by sudo. That is
 * what the machine says; an operator who may run commands as another user may be recorded as that user.
 */
export function operatorName(env: Readonly<Record<string, string | undefined>>): string {
  const by =
    env["SUDO_USER"] === undefined || env["SUDO_USER"] === "" ? "" : ` (sudo: ${env["SUDO_USER"].slice(0, 40)})`;
  return `${userName().slice(0, 40)}${by}`;
}

/** In a container the user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
