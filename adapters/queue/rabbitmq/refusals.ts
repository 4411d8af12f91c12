/** So many channels are tried on one connection: together their waits are longer than the election of a leader. */
const CHANNELS_MAX = 7;

/**
 * What the broker refused on one connection. After the node of a quorum queue's leader was lost, RabbitMQ 3.10 goes on
 * refusing all that a channel sends to that queue which met it before the next leader was elected; another channel
 * works. A full queue refuses as well, but mostly after it has taken something.
 */
export class Refusals {
  private readonly taken = new Set<string>();
  private connection: unknown = null;
  private channels = 0;

  /** A channel is opened on this connection. */
  begin(connection: unknown): void {
    if (this.connection === connection) return;
    this.connection = connection;
    this.taken.clear();
    this.channels = 0;
  }

  /** The queue of this provider has taken a message. */
  accept(providerId: string): void {
    this.taken.add(providerId);
  }

  /** The queue of this provider has refused a message. @returns whether to try another channel */
  refuse(providerId: string): boolean {
    if (this.taken.has(providerId) || this.channels >= CHANNELS_MAX) return false;
    this.channels += 1;
    return true;
  }
}
