import type { ExpectedTracks, ReferenceScenarios } from "../contract/music-provider.contract.js";
import type { FakeApi } from "../support/provider-kit/index.js";
import { asObject, type JsonObject } from "../../plugins/sdk/index.js";

type Requests = readonly { readonly path: string; readonly json: unknown }[];

/** What fal's queue does with a request at any endpoint. */
interface Queue {
  acceptsAt(fake: FakeApi, path: string): void;
  succeeds(fake: FakeApi): Promise<ExpectedTracks>;
}

/** At ACE-Step, and at the two generations of Stable Audio. */
export function falReferences({ acceptsAt, succeeds }: Queue): ReferenceScenarios {
  const at = (path: string) => ({
    submit: { method: "POST", path } as const,
    completes: (fake: FakeApi): Promise<ExpectedTracks> => {
      acceptsAt(fake, path);
      return succeeds(fake);
    },
    receivedSource: (requests: Requests, { bytes }: { readonly bytes: Uint8Array }): boolean =>
      bodyAt(requests, path)["audio_url"] === `data:audio/mpeg;base64,${Buffer.from(bytes).toString("base64")}`,
  });
  return {
    extend: { ...at("/fal-ai/ace-step/audio-outpaint"), model: "fal/ace-step", sent: () => ({}) },
    cover: {
      ...at("/fal-ai/stable-audio-25/audio-to-audio"),
      model: "fal/stable-audio-2.5",
      sent: (requests) => {
        // 1 is nothing of the track, and 0.01 the least that is taken.
        const { strength } = bodyAt(requests, "/fal-ai/stable-audio-25/audio-to-audio");
        return typeof strength === "number" ? { strength: (1 - strength) / 0.99 } : {};
      },
    },
    inpaint: {
      ...at("/fal-ai/stable-audio-3/medium/audio-inpainting"),
      model: "fal/stable-audio-3-medium",
      sent: (requests) => {
        const sent = bodyAt(requests, "/fal-ai/stable-audio-3/medium/audio-inpainting");
        return { from: secondsIn(sent["mask_start_seconds"]), to: secondsIn(sent["mask_end_seconds"]) };
      },
    },
  };
}

function bodyAt(requests: Requests, path: string): JsonObject {
  return asObject(requests.find((request) => request.path === path)?.json);
}

function secondsIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
