/** The methods of a port. */
type Method<Port> = {
  [Name in keyof Port]: Port[Name] extends (...given: never[]) => unknown ? Name : never;
}[keyof Port];

/** Replaces a call: `call` makes the real one. */
export type PortFault<Member> = Member extends (...given: infer Given) => infer Result
  ? (call: (...given: Given) => Result, ...given: Given) => Result
  : never;

type AnyFunction = (...given: unknown[]) => unknown;

/**
 * In place of a store or another port that fails as a test says. Without a fault every call is the real port's.
 *
 * @example
 * const faulty = new FaultyPort(new MemoryAudioStore());
 * const audio = faulty.failOn("stat", () => new Error("The disk is gone."));
 * await assert.rejects(audio.stat("trk_1/mix.mp3"), /disk is gone/);
 * faulty.repair();
 * assert.equal(await audio.stat("trk_1/mix.mp3"), null);
 */
export class FaultyPort<Port extends object> {
  readonly port: Port;
  private general: AnyFunction | null = null;
  private readonly faults = new Map<PropertyKey, AnyFunction>();

  constructor(real: Port) {
    this.port = new Proxy(real, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...given: unknown[]): unknown => {
          const call: AnyFunction = (...changed) => (member as AnyFunction).apply(target, changed);
          const fault = this.faults.get(name) ?? this.general;
          return fault === null ? call(...given) : fault(call, ...given);
        };
      },
    });
  }

  /** Sets the fault of a method, in place of an earlier one. @returns the port */
  on<Name extends Method<Port>>(name: Name, fault: PortFault<Port[Name]>): Port {
    this.faults.set(name, fault as unknown as AnyFunction);
    return this.port;
  }

  /** Makes a method fail while `isFaulty`. @returns the port */
  failOn(name: Method<Port>, error: () => Error, isFaulty = (): boolean => true): Port {
    this.faults.set(name, (call, ...given) => (isFaulty() ? Promise.reject(error()) : (call as AnyFunction)(...given)));
    return this.port;
  }

  /** Makes every method without a fault of its own fail while `isFaulty`. @returns the port */
  failAll(error: () => Error, isFaulty = (): boolean => true): Port {
    this.general = (call, ...given) => (isFaulty() ? Promise.reject(error()) : (call as AnyFunction)(...given));
    return this.port;
  }

  /** Removes all faults. */
  repair(): void {
    this.faults.clear();
    this.general = null;
  }
}
