import { Get, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { contextOf } from "../request-context.js";
import { presentProfile, type Profile } from "../presenters/profile.js";

@Route("api/v1/me")
@Tags("Account")
export class ProfileController {
  /**
   * The profile of the account that the API key belongs to.
   * @summary Authenticated API profile
   */
  @Get()
  @Security("bearer", ["profile:read"])
  getProfile(@Request() request: express.Request): { data: Profile } {
    return { data: presentProfile(contextOf(request).account) };
  }
}
