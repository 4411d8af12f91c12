import type { CoverPainter } from "../../../core/ports/cover-painter.js";
import { tinyPng } from "../provider-kit/index.js";

/** The same small picture for all: painting takes longer than all else that is done for a track. */
export const coverPainter: CoverPainter = { paint: async () => tinyPng() };
