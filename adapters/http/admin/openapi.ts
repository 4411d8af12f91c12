import { ADMIN_ROLES } from "../../../core/ports/admin-token.js";
import generated from "../generated/admin/openapi.json" with { type: "json" };
import { AUDIO_FORM } from "../openapi/audio-form.js";
import type { OpenApiDocument, Operation } from "../openapi/model.js";
import { toOpenApi31 } from "../openapi/openapi-31.js";
import { EXPORT_TYPE } from "./controllers/export.js";
import { REASON_HEADER } from "./authentication.js";
import { describeRefusals, ERROR_SCHEMAS } from "./refusals.js";

/** The version of the interface, which is not that of the software. */
const ADMIN_API_VERSION = "1.0.0";

/** The description of the admin API. @param serverVersion the version of the software that serves it */
export function describeAdminApi(publicUrl: string, serverVersion: string): OpenApiDocument {
  const described = structuredClone(generated) as unknown as OpenApiDocument;
  Object.assign(described.components.schemas, structuredClone(ERROR_SCHEMAS));
  const document = toOpenApi31(described);
  document.info = {
    title: "Fermata admin",
    version: ADMIN_API_VERSION,
    "x-fermata-version": serverVersion,
    description:
      `For operators: accounts, keys, credits, jobs, music, providers, webhooks. Served by Fermata ${serverVersion}. ` +
      "Every change is in the audit log, with who did it and why.",
  };
  document.servers = [{ url: publicUrl }];
  document.components.securitySchemes = {
    admin: {
      type: "http",
      scheme: "bearer",
      description: `An admin token. Its role is at least the one named at an operation: ${ADMIN_ROLES.join(", ")}.`,
    },
  };
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (method !== "get") addReason(operation);
      if (operation.operationId === "uploadTrack") operation.requestBody = AUDIO_FORM;
      if (operation.operationId === "exportAccount") addLines(operation);
      describeRefusals(path, operation);
    }
  }
  return document;
}

/** tsoa does not know of it: the controller writes it as it is read. */
function addLines({ responses }: Operation): void {
  const [success] = Object.values(responses);
  if (success !== undefined) success.content = { [EXPORT_TYPE]: { schema: { type: "string" } } };
}

function addReason(operation: Operation): void {
  operation.parameters.push({
    in: "header",
    name: REASON_HEADER,
    required: false,
    description: "Why you do it, for the audit log: percent-encoded UTF-8, at most 200 characters.",
    schema: { type: "string" },
    example: "order%2017",
  });
}
