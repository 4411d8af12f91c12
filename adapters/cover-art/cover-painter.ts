import { setImmediate } from "node:timers/promises";
import type { CoverPainter, CoverSubject } from "../../core/ports/cover-painter.js";
import { SeededRandom } from "./seeded-random.js";
import { mix, paletteOf, type Rgb } from "./palette.js";
import { encodePng } from "./png.js";

/** Width and height in pixels. */
export const COVER_SIZE = 512;
/** Rows that are painted before the event loop gets its turn: a millisecond or two. */
const ROWS_AT_ONCE = 8;
/** An outline is given by so many radii, all the way round. */
const DIRECTIONS = 2_048;
/** How far a layer's shadow falls, in pixels, and how much it darkens at the most. */
const SHADOW_PIXELS = 26;
const SHADOW_DEPTH = 0.34;
/** Shadows have invisibly small steps, which halves the size of the PNG. */
const SHADOW_STEPS = 80;

/** A sheet of paper with an outline round the picture's centre. */
interface Layer {
  /** By direction. */
  readonly radii: Float64Array;
  readonly colour: Rgb;
}

interface Picture {
  readonly background: readonly [top: Rgb, bottom: Rgb];
  readonly centreX: number;
  readonly centreY: number;
  /** From the lowest to the topmost, which is the smallest. */
  readonly layers: readonly Layer[];
}

/** Paints sheets of cut paper, one on the other, like sound that spreads from a point; the mood decides the colours. */
export class PaperCoverPainter implements CoverPainter {
  async paint(subject: CoverSubject): Promise<Uint8Array> {
    const picture = compose(subject);
    const pixels = new Uint8Array(COVER_SIZE * COVER_SIZE * 3);
    for (let y = 0; y < COVER_SIZE; y++) {
      paintRow(picture, y, pixels);
      if (y % ROWS_AT_ONCE === 0) await setImmediate();
    }
    return encodePng(pixels, COVER_SIZE);
  }
}

function compose(subject: CoverSubject): Picture {
  const random = new SeededRandom(subject.seed);
  const { high, low, sheet, point } = paletteOf(subject, random);
  const count = 5 + Math.floor(random.fraction() * 4);
  const [inmost, outmost] = [COVER_SIZE * random.between(0.13, 0.18), COVER_SIZE * random.between(0.62, 0.8)];
  const waves = [2, 3, 5, 7].map((turns) => ({
    turns,
    height: random.between(0.25, 1) / (4 + turns * 4),
    phase: random.between(0, 2 * Math.PI),
    drift: random.between(-0.5, 0.5),
  }));
  const layers = Array.from({ length: count }, (_, index): Layer => {
    const share = index / (count - 1);
    const radius = outmost + (inmost - outmost) * share ** 0.85;
    const radii = Float64Array.from({ length: DIRECTIONS + 1 }, (_, direction) => {
      const angle = (2 * Math.PI * direction) / DIRECTIONS;
      const wobble = waves.reduce(
        (sum, { turns, height, phase, drift }) => sum + height * Math.cos(turns * angle + phase + drift * index),
        0,
      );
      return radius * (1 + wobble);
    });
    return { radii, colour: sheet(share) };
  });
  const dot = {
    radii: new Float64Array(DIRECTIONS + 1).fill(COVER_SIZE * random.between(0.045, 0.065)),
    colour: point,
  };
  return {
    background: [high, low],
    layers: [...layers, dot],
    centreX: COVER_SIZE * random.between(0.3, 0.7),
    centreY: COVER_SIZE * random.between(0.36, 0.66),
  };
}

/** The inner loop runs two million times for a picture: no iterators, no new arrays. */
function paintRow(
  { background: [top, bottom], centreX, centreY, layers }: Picture,
  y: number,
  pixels: Uint8Array,
): void {
  const ground = mix(top, bottom, y / COVER_SIZE);
  const down = y + 0.5 - centreY;
  for (let x = 0; x < COVER_SIZE; x++) {
    const right = x + 0.5 - centreX;
    const distance = Math.sqrt(right * right + down * down);
    const direction = Math.round((Math.atan2(down, right) / (2 * Math.PI) + 0.5) * DIRECTIONS);
    let red = ground[0];
    let green = ground[1];
    let blue = ground[2];
    for (let index = 0; index < layers.length; index++) {
      const { radii, colour } = layers[index] as Layer;
      const outside = distance - (radii[direction] as number);
      if (outside >= SHADOW_PIXELS) continue;
      const covered = Math.min(1, Math.max(0, 0.5 - outside));
      const left = covered === 1 ? 0 : lightAt(outside) * (1 - covered);
      red = red * left + colour[0] * covered;
      green = green * left + colour[1] * covered;
      blue = blue * left + colour[2] * covered;
    }
    const at = 3 * (y * COVER_SIZE + x);
    pixels[at] = Math.round(red);
    pixels[at + 1] = Math.round(green);
    pixels[at + 2] = Math.round(blue);
  }
}

/** A sheet throws its shadow on those below, deepest along its edge. */
function lightAt(outside: number): number {
  const nearness = 1 - Math.max(0, outside) / SHADOW_PIXELS;
  return 1 - Math.round(SHADOW_DEPTH * nearness * nearness * SHADOW_STEPS) / SHADOW_STEPS;
}
