/** What each came to: its result, or the message of its error. */
export async function outcomes(promises: readonly Promise<string>[]): Promise<string[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as Error).message));
}
