import type { IocContainer } from "@tsoa/runtime";
import type { Request } from "express";
import { exchangeOf } from "./exchange.js";
import type { HttpParts } from "./parts.js";

/** Makes the controller of a request from the parts of the app that the request came to: two apps can live in one process. */
export function iocContainer(request: Request): IocContainer {
  const { parts } = exchangeOf(request);
  return {
    get: (Controller) => new (Controller as unknown as new (parts: HttpParts) => never)(parts),
  };
}
