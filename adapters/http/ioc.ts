import type { IocContainer } from "@tsoa/runtime";
import type { Request } from "express";
import { contextOf } from "./request-context.js";
import type { ControllerClass } from "./deps.js";

/** Takes the controller of a request from the app that the request came to: two apps can live in one process. */
export function iocContainer(request: Request): IocContainer {
  const { controllers } = contextOf(request).deps;
  return { get: (Controller) => controllers.get(Controller as unknown as ControllerClass) as never };
}
