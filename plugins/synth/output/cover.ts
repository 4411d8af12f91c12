import { PNG } from "pngjs";
import { Random } from "../random.js";

/** Width and height in pixels. */
export const COVER_SIZE = 512;

/** What a picture is painted from. */
export interface CoverSubject {
  readonly seed: number;
  /** Sad to happy, -1 to 1: cold or warm colours. */
  readonly valence: number;
  /** Calm to wild, 0 to 1: few wide shapes or many sharp ones. */
  readonly energy: number;
}

type Rgb = readonly [red: number, green: number, blue: number];

/** Paints an abstract landscape: a sky, a sun and layered waves. Equal subjects give equal bytes. */
export function paintCover(subject: CoverSubject): Uint8Array<ArrayBuffer> {
  const random = new Random(subject.seed, "cover");
  const palette = paletteOf(subject, random);
  const png = new PNG({ width: COVER_SIZE, height: COVER_SIZE });
  const pixels = new Float32Array(COVER_SIZE * COVER_SIZE * 3);
  paintSky(pixels, palette);
  paintSun(pixels, palette.light, random);
  const count = 3 + Math.round(subject.energy * 5);
  for (let layer = 0; layer < count; layer += 1)
    paintWave(pixels, mix(palette.far, palette.near, layer / (count - 1)), layer / count, subject.energy, random);
  for (let index = 0; index < COVER_SIZE * COVER_SIZE; index += 1) {
    for (let channel = 0; channel < 3; channel += 1)
      png.data[4 * index + channel] = Math.round(255 * Math.min(1, Math.max(0, pixels[3 * index + channel] as number)));
    png.data[4 * index + 3] = 255;
  }
  return new Uint8Array(PNG.sync.write(png, { colorType: 2, deflateLevel: 4, filterType: 1 }));
}

interface Palette {
  readonly high: Rgb;
  readonly low: Rgb;
  readonly light: Rgb;
  readonly far: Rgb;
  readonly near: Rgb;
}

function paletteOf({ valence, energy }: CoverSubject, random: Random): Palette {
  // Warm hues for happy pieces, blue and violet for sad ones.
  const hue = (valence > 0 ? random.between(-30, 70) : random.between(190, 310)) + random.between(-15, 15);
  const other = hue + random.pick([28, -35, 150, 185]);
  const saturation = 0.35 + 0.45 * energy;
  const light = 0.5 + 0.12 * valence;
  return {
    high: hsl(hue + 20, saturation, light * 0.55),
    low: hsl(other, saturation, light + 0.12),
    light: hsl(other + 12, 0.9, 0.84),
    far: hsl(hue, saturation * 0.9, light * 0.78),
    near: hsl(hue - 18, saturation, 0.1),
  };
}

function paintSky(pixels: Float32Array, { high, low }: Palette): void {
  for (let y = 0; y < COVER_SIZE; y += 1) {
    const [red, green, blue] = mix(high, low, Math.min(1, y / (COVER_SIZE * 0.75)));
    for (let x = 0; x < COVER_SIZE; x += 1) {
      const index = 3 * (y * COVER_SIZE + x);
      pixels[index] = red;
      pixels[index + 1] = green;
      pixels[index + 2] = blue;
    }
  }
}

function paintSun(pixels: Float32Array, light: Rgb, random: Random): void {
  const centreX = random.between(0.25, 0.75) * COVER_SIZE;
  const centreY = random.between(0.22, 0.5) * COVER_SIZE;
  const radius = random.between(0.1, 0.22) * COVER_SIZE;
  for (let y = 0; y < COVER_SIZE; y += 1) {
    for (let x = 0; x < COVER_SIZE; x += 1) {
      const distance = Math.sqrt((x - centreX) ** 2 + (y - centreY) ** 2) - radius;
      const disc = Math.min(1, Math.max(0, 0.5 - distance / 2));
      const glow = 0.45 * Math.exp(-Math.max(0, distance) / (radius * 0.9));
      blend(pixels, 3 * (y * COVER_SIZE + x), light, Math.max(disc, glow));
    }
  }
}

/** A crest of three sine waves; wilder pieces have shorter and steeper ones. */
function paintWave(pixels: Float32Array, colour: Rgb, depth: number, energy: number, random: Random): void {
  const waves = Array.from({ length: 3 }, (_, index) => ({
    turns: random.between(0.6, 1.4 + 2.5 * energy) * (index + 1),
    phase: random.between(0, 2 * Math.PI),
    height: (COVER_SIZE * random.between(0.02, 0.035 + 0.05 * energy)) / (index + 1),
  }));
  const base = COVER_SIZE * (0.5 + 0.45 * depth);
  for (let x = 0; x < COVER_SIZE; x += 1) {
    const crest = waves.reduce(
      (sum, { turns, phase, height }) => sum + height * Math.sin((2 * Math.PI * turns * x) / COVER_SIZE + phase),
      base,
    );
    for (let y = Math.max(0, Math.floor(crest)); y < COVER_SIZE; y += 1) {
      blend(
        pixels,
        3 * (y * COVER_SIZE + x),
        colour,
        Math.min(1, y + 1 - crest) * (0.94 - Math.min(0.2, (y - crest) / 900)),
      );
    }
  }
}

function blend(pixels: Float32Array, index: number, [red, green, blue]: Rgb, share: number): void {
  pixels[index] = (pixels[index] as number) * (1 - share) + red * share;
  pixels[index + 1] = (pixels[index + 1] as number) * (1 - share) + green * share;
  pixels[index + 2] = (pixels[index + 2] as number) * (1 - share) + blue * share;
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  return [
    from[0] + (to[0] - from[0]) * share,
    from[1] + (to[1] - from[1]) * share,
    from[2] + (to[2] - from[2]) * share,
  ];
}

function hsl(hue: number, saturation: number, lightness: number): Rgb {
  const chroma = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const k = (((offset + hue / 30) % 12) + 12) % 12;
    return lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  };
  return [channel(0), channel(8), channel(4)];
}
