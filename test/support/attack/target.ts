import { readdir, readFile } from "node:fs/promises";
import { eventually, type FermataProcess } from "../process.js";

/** Descriptors that a process opens and closes by itself meanwhile, and connections of the ordinary client. */
const OF_ITS_OWN = 8;

/** A running process under attack, and its resources. */
export class AttackTarget {
  constructor(
    private readonly fermata: FermataProcess,
    readonly url: string,
  ) {}

  /** Resolves when the process has accepted the earlier connections, and has served a request after that. */
  async hasAccepted(): Promise<void> {
    const response = await fetch(`${this.url}/healthz`, { headers: { Connection: "close" } });
    await response.arrayBuffer();
  }

  /** Open file descriptors of the process. */
  async descriptors(): Promise<number> {
    return (await readdir(`/proc/${this.fermata.pid}/fd`)).length;
  }

  /** The resident memory of the process. */
  async residentBytes(): Promise<number> {
    const status = await readFile(`/proc/${this.fermata.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  /**
   * Waits until the process has closed the connections of an attack. @param before its descriptors before the attack
   */
  async descriptorsBackTo(before: number): Promise<void> {
    const most = before + OF_ITS_OWN;
    await eventually(`${most} descriptors at most`, async () => (await this.descriptors()) <= most);
  }
}
