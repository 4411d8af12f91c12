/**
 * Leases are columns of the jobs. Their statements, for both that renew them: the store in its transaction, and the
 * lease renewal thread.
 */

/** `due_at`, `id`, `lease_owner` */
export const RENEW = "UPDATE {jobs} SET due_at = ? WHERE id = ? AND lease_owner = ?";
/** `id`, `lease_owner` */
export const HELD = "SELECT id, fence FROM {jobs} WHERE id = ? AND lease_owner = ?";
