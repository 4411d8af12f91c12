import type { NextFunction, Request, Response } from "express";
import { entityTagOf, hasTag } from "../entity-tag.js";
import { endTogether } from "../end-together.js";
import { sendJson } from "../send.js";

const NOT_MODIFIED = 304;

/**
 * Gives the response of a read an ETag, and sends 304 without a body in its place where If-None-Match has that tag. All
 * else of the request is as ever: it was authenticated and counted before, and the response is read and presented,
 * unless the controller returns a {@link TaggedBody} that it has kept.
 */
export function conditional(_request: Request, response: Response, next: NextFunction): void {
  response.json = taggedJson;
  next();
}

/** A body and its tag, for responses that are often the same. */
export class TaggedBody {
  readonly text: string;
  readonly tag: string;

  constructor(body: unknown) {
    this.text = JSON.stringify(body);
    this.tag = entityTagOf(this.text);
  }
}

function taggedJson(this: Response, body: unknown): Response {
  const { text, tag } = body instanceof TaggedBody ? body : new TaggedBody(body);
  this.setHeader("ETag", tag);
  const known = this.req.headers["if-none-match"];
  if (known !== undefined && hasTag(known, tag)) this.status(NOT_MODIFIED).end();
  else sendJson(this, this.statusCode, text, endTogether);
  return this;
}
