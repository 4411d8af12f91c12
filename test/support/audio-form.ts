import type { ApiResponse, ApiClient } from "./api-client.js";

/** A part of a form; a file if it has a name. */
export interface Part {
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly filename?: string;
}

export const BOUNDARY = "----fermata-test-boundary";

/** A body of `multipart/form-data`; without its end by default. */
export function formOf(parts: readonly Part[], { isWhole = true } = {}): Buffer {
  const chunks = parts.flatMap(({ name, content, filename }) => [
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"` +
        (filename === undefined ? "" : `; filename="${filename}"\r\nContent-Type: application/octet-stream`) +
        "\r\n\r\n",
    ),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...chunks, Buffer.from(isWhole ? `--${BOUNDARY}--\r\n` : "")]);
}

export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

export function sendForm(
  api: ApiClient,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  path = "/api/v1/tracks",
): Promise<ApiResponse> {
  return api.send("POST", path, { headers: { "Content-Type": FORM_TYPE, ...headers }, body });
}

/** Uploads a file; its title follows the file, as in some browsers' forms. */
export function upload(api: ApiClient, audio: Uint8Array, title?: string): Promise<ApiResponse> {
  const file = { name: "audio", filename: "hum.txt", content: audio };
  return sendForm(api, formOf(title === undefined ? [file] : [file, { name: "title", content: title }]));
}
