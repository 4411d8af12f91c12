import type { Fault } from "./plan.js";

type StatementFault = Extract<Fault, { kind: "statement" }>;
type CommitFault = Extract<Fault, { kind: "commit" }>;
type StallFault = Extract<Fault, { kind: "stall" }>;
type CallFault = Extract<Fault, { call: number }>;

/** A process that can be killed. */
export interface Mortal {
  readonly name: string;
  readonly isDead: boolean;
}

/** What the injector does to the world, whose processes are of this kind. */
export interface Faulted<Process extends Mortal> {
  now(): number;
  kill(process: Process, backAfterMs: number): void;
  stop(machine: number, backAfterMs: number): void;
  freeze(machine: number, ms: number): void;
  setClock(machine: number, offsetMs: number): void;
  note(line: string): void;
}

/** Carries out the faults of a plan, each at the call, the write or the commit that it names. */
export class Injector<Process extends Mortal> {
  /** False once the world heals: nothing goes wrong any more. */
  isActive = true;
  calls = 0;
  /** How many faults there were. */
  faults = 0;
  private writes = 0;
  private commits = 0;
  private acceptances = 0;
  private readonly callsOf = new Map<string, number>();
  /** Until when the storage is away, for one machine or (null) for all. */
  private readonly awayUntil = new Map<number | null, number>();
  private readonly atCall = new Map<number, CallFault[]>();
  private readonly atStall = new Map<string, StallFault>();
  private readonly atWrite = new Map<number, StatementFault>();
  private readonly atCommit = new Map<string, CommitFault>();

  constructor(
    faults: readonly Fault[],
    private readonly world: Faulted<Process>,
  ) {
    for (const fault of faults) {
      if ("call" in fault) this.atCall.set(fault.call, [...(this.atCall.get(fault.call) ?? []), fault]);
      if (fault.kind === "stall") this.atStall.set(`${fault.at} ${fault.nth}`, fault);
      if (fault.kind === "statement") this.atWrite.set(fault.write, fault);
      if (fault.kind === "commit") this.atCommit.set(`${fault.of} ${fault.commit}`, fault);
    }
  }

  /** Counts a call of a process. @returns its number */
  called(): number {
    this.calls += 1;
    for (const fault of this.faultsAt(this.calls)) {
      if (fault.kind === "kill") continue;
      this.noted(`${JSON.stringify(fault)}`);
      if (fault.kind === "stop") this.world.stop(fault.node, fault.backAfterMs);
      if (fault.kind === "freeze") this.world.freeze(fault.node, fault.ms);
      if (fault.kind === "away") this.away(fault.node, fault.ms);
      if (fault.kind === "clock") this.world.setClock(fault.node, fault.offsetMs);
    }
    return this.calls;
  }

  /** Whether the process dies at this point of a call; it is dead then. */
  diesAt(process: Process, call: number, when: "before" | "after"): boolean {
    if (process.isDead) return true;
    for (const fault of this.faultsAt(call)) {
      if (fault.kind !== "kill" || fault.when !== when) continue;
      this.noted(`${process.name} dies: ${JSON.stringify(fault)}`);
      this.world.kill(process, fault.backAfterMs);
    }
    return process.isDead;
  }

  /** Counts a call of this kind. @returns how the process that makes it stands still */
  stalling(label: string): StallFault | null {
    const nth = (this.callsOf.get(label) ?? 0) + 1;
    this.callsOf.set(label, nth);
    return this.begun(this.atStall.get(`${label} ${nth}`));
  }

  /** Counts a statement that writes. @returns what goes wrong with it */
  writing(): StatementFault | null {
    this.writes += 1;
    return this.begun(this.atWrite.get(this.writes));
  }

  /** Counts a commit of something written. @returns what goes wrong with it */
  committing(accepts: boolean): CommitFault | null {
    this.commits += 1;
    if (accepts) this.acceptances += 1;
    const accepting = accepts ? this.atCommit.get(`acceptances ${this.acceptances}`) : undefined;
    return this.begun(accepting ?? this.atCommit.get(`all ${this.commits}`));
  }

  /** The storage is away for this long. @param machine null: for all */
  away(machine: number | null, ms: number): void {
    if (ms > 0) this.awayUntil.set(machine, Math.max(this.awayUntil.get(machine) ?? 0, this.world.now() + ms));
  }

  isAway(machine: number): boolean {
    if (!this.isActive) return false;
    return [null, machine].some((whose) => (this.awayUntil.get(whose) ?? 0) > this.world.now());
  }

  private begun<One extends Fault>(fault: One | undefined): One | null {
    if (fault === undefined || !this.isActive) return null;
    this.noted(`${JSON.stringify(fault)}`);
    return fault;
  }

  private noted(fault: string): void {
    this.faults += 1;
    this.world.note(`fault: ${fault}`);
  }

  private faultsAt(call: number): readonly CallFault[] {
    return this.isActive ? (this.atCall.get(call) ?? []) : [];
  }
}
