import { ApiClient, type ApiResponse } from "../../support/api-client.js";
import { formOf, type Part, sendForm } from "../../support/audio-form.js";
import { startTestApp, type TestApp, type TestAppOptions } from "../../support/test-app.js";

/** The token that the settings of the tests give. */
export const OWNER_TOKEN = "an-owner-of-the-tests-0123456789abcdef";

/** Calls the admin API with one token. */
export class AdminClient {
  private readonly api: ApiClient;

  /** @param url of the admin API, `…/admin/v1` */
  constructor(url: string, token: string | null) {
    this.api = new ApiClient(url, token);
  }

  get(path: string): Promise<ApiResponse> {
    return this.api.get(path);
  }

  delete(path: string, reason?: string): Promise<ApiResponse> {
    return this.api.send("DELETE", path, { headers: reasonOf(reason) });
  }

  /** @param body none: no body is sent */
  send(
    method: "POST" | "PATCH" | "PUT",
    path: string,
    body?: object,
    reason?: string,
    others: Readonly<Record<string, string>> = {},
  ): Promise<ApiResponse> {
    const headers = {
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...reasonOf(reason),
      ...others,
    };
    return this.api.send(method, path, { headers, ...(body === undefined ? {} : { body }) });
  }

  /** Uploads a file. */
  upload(path: string, parts: readonly Part[], reason?: string): Promise<ApiResponse> {
    return sendForm(this.api, formOf(parts), reasonOf(reason), path);
  }
}

function reasonOf(reason: string | undefined): Record<string, string> {
  return reason === undefined ? {} : { "X-Reason": encodeURIComponent(reason) };
}

/** An app with the admin API at its own port, and its owner. */
export async function startAdminApp(
  options: TestAppOptions = {},
): Promise<{ readonly test: TestApp; readonly owner: AdminClient; readonly url: string }> {
  const settings = { ...options.settings, admin: { token: OWNER_TOKEN, ...options.settings?.["admin"] } };
  const test = await startTestApp({ ...options, settings });
  const url = test.adminUrl ?? "";
  return { test, owner: new AdminClient(url, OWNER_TOKEN), url };
}
