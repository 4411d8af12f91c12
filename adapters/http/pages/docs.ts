import type { Router } from "express";
import type { HttpParts } from "../parts.js";

export function docsPages(_router: Router, _parts: HttpParts): void {}
