import {
  Body,
  Delete,
  Get,
  Middlewares,
  Patch,
  Path,
  Post,
  Query,
  Request,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from "@tsoa/runtime";
import type express from "express";
import { authorizeOperator } from "../../../../core/admin/admin-tokens.js";
import { InvalidRequestError } from "../../../../core/errors.js";
import { isId } from "../../../../core/ids.js";
import type { HttpDeps } from "../../deps.js";
import { jsonBody } from "../../middleware/json-body.js";
import { operatorOf } from "../authentication.js";
import { type AdminDeps, adminOf } from "../deps.js";
import {
  type AdminAccount,
  type AdminBalance,
  type AdminDeletion,
  type AdminKey,
  presentAccount,
  presentBalance,
  presentDeletion,
  presentKey,
} from "../presenters.js";
import { dateTime, defined } from "../values.js";
import { type AdminEndpoint, presentAdminEndpoint } from "./webhooks.js";

export interface NewAccountRequest {
  /** A label for operators, 1 to 100 characters. */
  name: string;
  /** A tier named in config. */
  tier: string;
  /** The account has accepted the API terms; without it every request gets 403. */
  accept_terms?: boolean;
  email_verified?: boolean;
  /**
   * Monthly credits granted at once; above 0 only for owners.
   * @isInt
   */
  credits?: number;
  /** Whose it is in an app around Fermata; of one account at most. */
  external_id?: string;
}

export interface AccountChangesRequest {
  tier?: string;
  /** Only `true`: an acceptance is not taken back. */
  accept_terms?: boolean;
}

export interface SuspensionRequest {
  /** For operators; the account does not see it. 1 to 200 characters. */
  reason?: string;
}

export interface NewKeyRequest {
  /** A label for lists, 1 to 100 characters. */
  name?: string;
  /** All by default. */
  scopes?: string[];
  /**
   * Until when it works; for ever by default.
   * @format date-time
   */
  expires_at?: string;
}

/** An account with its credits. */
export interface AdminAccountReport extends AdminAccount {
  credits: AdminBalance;
  /** null while it is not deleted. */
  deletion: AdminDeletion | null;
}

@Route("admin/v1/accounts")
@Tags("Accounts")
export class AdminAccountsController {
  private readonly admin: AdminDeps;

  constructor(private readonly deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Accounts, newest first.
   * @summary List accounts
   * @param search A part of the name, or a whole id or external id.
   * @param suspended Only those that are suspended, the last suspended first.
   * @param deleted Only those that are deleted; by default they are left out.
   * @param after The id of the last account of the page before.
   * @isInt limit
   * @minimum limit 1
   * @maximum limit 1000
   */
  @Get()
  @Security("admin", ["read"])
  async listAccounts(
    @Query() search?: string,
    @Query() tier?: string,
    @Query() suspended?: boolean,
    @Query() deleted?: boolean,
    @Query() after?: string,
    @Query() limit = 50,
  ): Promise<{ data: { accounts: AdminAccount[] } }> {
    if (after !== undefined && !isId("acct", after))
      throw new InvalidRequestError([{ path: "query.after", message: "must be the id of an account" }]);
    if (after !== undefined && suspended === true)
      throw new InvalidRequestError([{ path: "query.after", message: "is not taken together with suspended" }]);
    const filter = defined({ search, tier, after });
    const list = await this.admin.accounts.list({
      ...filter,
      isSuspended: suspended ?? false,
      isDeleted: deleted ?? false,
      limit,
    });
    return { data: { accounts: list.map(presentAccount) } };
  }

  /**
   * Creates an account.
   * @summary Create an account
   */
  @Post()
  @Security("admin", ["operate"])
  @SuccessResponse(201)
  @Middlewares(jsonBody)
  async createAccount(
    @Request() request: express.Request,
    @Body() body: NewAccountRequest,
  ): Promise<{ data: AdminAccount }> {
    const { name, tier, accept_terms: acceptTerms, email_verified: emailVerified, credits } = body;
    if ((credits ?? 0) > 0) authorizeOperator(operatorOf(request), "owner");
    const given = defined({ acceptTerms, emailVerified, credits, externalId: body.external_id });
    const account = await this.admin.accounts.create({ name, tier, ...given });
    return { data: presentAccount(account) };
  }

  /**
   * An account with its credits; a deleted one with how far that is.
   * @summary Show an account
   */
  @Get("{id}")
  @Security("admin", ["read"])
  async getAccount(@Path() id: string): Promise<{ data: AdminAccountReport }> {
    const account = await this.admin.accounts.get(id);
    const deletion = account.deletedAt === null ? null : await this.admin.accounts.deletion(id);
    return {
      data: {
        ...presentAccount(account),
        credits: presentBalance(await this.admin.credits.balance(id)),
        deletion: deletion === null ? null : presentDeletion(deletion),
      },
    };
  }

  /**
   * Deletes an account: within a second its keys, share pages and audio links are refused, its jobs are cancelled, and
   * within minutes everything that is stored of it is erased, but for its ledger. It cannot be taken back.
   * @summary Delete an account
   */
  @Delete("{id}")
  @Security("admin", ["owner"])
  async deleteAccount(@Path() id: string): Promise<{ data: { id: string } & AdminDeletion }> {
    return { data: { id, ...presentDeletion(await this.admin.accounts.delete(id)) } };
  }

  /**
   * Changes the tier, or notes that the terms were accepted.
   * @summary Change an account
   */
  @Patch("{id}")
  @Security("admin", ["operate"])
  @Middlewares(jsonBody)
  async changeAccount(@Path() id: string, @Body() body: AccountChangesRequest): Promise<{ data: AdminAccount }> {
    const { tier, accept_terms: acceptTerms } = body;
    if (acceptTerms === false)
      throw new InvalidRequestError([{ path: "body.accept_terms", message: "must be true, or left out" }]);
    let account = await this.admin.accounts.get(id);
    if (tier !== undefined && tier !== account.tier) account = await this.admin.accounts.changeTier(id, tier);
    if (acceptTerms === true) account = await this.admin.accounts.acceptTerms(id);
    return { data: presentAccount(account) };
  }

  /**
   * Shuts an account out within a second: its keys get 403, its share pages and audio links 404. What it was accepted
   * for goes on.
   * @summary Suspend an account
   */
  @Post("{id}/suspend")
  @Security("admin", ["operate"])
  @Middlewares(jsonBody)
  async suspendAccount(@Path() id: string, @Body() body: SuspensionRequest): Promise<{ data: AdminAccount }> {
    return { data: presentAccount(await this.admin.accounts.suspend(id, defined(body))) };
  }

  /**
   * Ends the suspension of an account.
   * @summary Resume an account
   */
  @Post("{id}/resume")
  @Security("admin", ["operate"])
  async resumeAccount(@Path() id: string): Promise<{ data: AdminAccount }> {
    return { data: presentAccount(await this.admin.accounts.resume(id)) };
  }

  /**
   * The account's API keys, newest first, revoked ones included.
   * @summary List keys
   */
  @Get("{id}/keys")
  @Security("admin", ["read"])
  async listKeys(@Path() id: string): Promise<{ data: { keys: AdminKey[] } }> {
    const [keys, now] = [await this.admin.accounts.listKeys(id), this.deps.clock.now()];
    return { data: { keys: keys.map((key) => presentKey(key, now)) } };
  }

  /**
   * Issues an API key. The response shows it this once.
   * @summary Issue a key
   */
  @Post("{id}/keys")
  @Security("admin", ["operate"])
  @SuccessResponse(201)
  @Middlewares(jsonBody)
  async issueKey(@Path() id: string, @Body() body: NewKeyRequest): Promise<{ data: AdminKey & { key: string } }> {
    const { name, scopes, expires_at: expires } = body;
    const expiresAt = expires === undefined ? undefined : dateTime("body.expires_at", expires);
    const { key, token } = await this.admin.accounts.issueKey(id, defined({ name, scopes, expiresAt }));
    return { data: { ...presentKey(key, this.deps.clock.now()), key: token } };
  }

  /**
   * Revokes all keys of the account; they stop working everywhere within a second.
   * @summary Revoke all keys of an account
   */
  @Delete("{id}/keys")
  @Security("admin", ["operate"])
  async revokeKeys(@Path() id: string): Promise<{ data: { revoked: number } }> {
    return { data: { revoked: await this.admin.accounts.revokeKeys({ accountId: id }) } };
  }

  /**
   * The account's webhook endpoints, newest first, disabled ones included.
   * @summary List webhook endpoints
   */
  @Get("{id}/webhook-endpoints")
  @Security("admin", ["read"])
  async listEndpoints(@Path() id: string): Promise<{ data: { webhook_endpoints: AdminEndpoint[] } }> {
    const { id: accountId } = await this.admin.accounts.get(id);
    const endpoints = await this.admin.webhooks.endpoints.list(accountId, "all");
    return { data: { webhook_endpoints: endpoints.map(presentAdminEndpoint) } };
  }
}

@Route("admin/v1/keys")
@Tags("Accounts")
export class AdminKeysController {
  private readonly admin: AdminDeps;

  constructor(deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Revokes a key; it stops working everywhere within a second.
   * @summary Revoke a key
   */
  @Delete("{id}")
  @Security("admin", ["operate"])
  async revokeKey(@Path() id: string): Promise<{ data: { id: string; revoked: boolean } }> {
    await this.admin.accounts.revokeKey(id);
    return { data: { id, revoked: true } };
  }
}
