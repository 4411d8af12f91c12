import type { NextFunction, Request, Response } from "express";
import { contextOf } from "../request-context.js";

/**
 * Counts a request that needs no key against the budget of its network, until its response is complete.
 *
 * @throws {RateLimitedError} the budget is used up
 */
export function drawOnNetworkBudget(request: Request, response: Response): void {
  const context = contextOf(request);
  try {
    const end = context.deps.networkBudget.enter(request.ip);
    response.once("close", end);
    // Its key was looked up meanwhile: no event comes any more.
    if (context.clientIsGone) end();
  } catch (error) {
    // Kept alive, the connection of one that asks too much would stay open for another minute.
    response.setHeader("Connection", "close");
    throw error;
  }
}

/** The same for every request to a path. */
export function networkBudget(request: Request, response: Response, next: NextFunction): void {
  drawOnNetworkBudget(request, response);
  next();
}
