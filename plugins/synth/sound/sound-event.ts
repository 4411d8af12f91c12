import type { Placement } from "./bus.js";
import type { SoundedNote } from "./instruments.js";

/** A sound to render; `render` is called once. */
export interface SoundEvent {
  /** Sample at which it begins. */
  readonly at: number;
  /** A gain in addition to the sound's own level. */
  readonly gain: number;
  readonly placement: Placement;
  /** True where many overlapping events have the same placement object. */
  readonly isGathered: boolean;
  render(): SoundedNote;
}
