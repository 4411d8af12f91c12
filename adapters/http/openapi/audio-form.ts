import { TITLE_MAX_LENGTH } from "../../../core/library/playlist-rules.js";
import type { Operation } from "./model.js";

/** The form that an upload is sent as. tsoa does not know of it: the controller reads it as it comes. */
export const AUDIO_FORM: NonNullable<Operation["requestBody"]> = {
  required: true,
  content: {
    "multipart/form-data": {
      schema: {
        type: "object",
        properties: {
          audio: { type: "string", format: "binary", description: "The file." },
          title: { type: "string", minLength: 1, maxLength: TITLE_MAX_LENGTH, description: "By default `Untitled`." },
        },
        required: ["audio"],
        additionalProperties: false,
      },
      examples: { request: { value: { audio: "(the bytes of hum.wav)", title: "Hummed melody" } } },
    },
  },
};
