import type {
  Accepted,
  CallContext,
  Completed,
  MusicProvider,
  MusicRequest,
  OptionValues,
  ProviderHost,
  SubmitRequest,
} from "../../core/ports/music-provider.js";
import { broken, type Broken, Changed, describeBroken } from "./broken-samples.js";
import { NightingaleProvider } from "./sample-provider.js";

/** Changes a generation before the provider sees it. */
const withRequest =
  (change: (request: MusicRequest) => MusicRequest) =>
  (host: ProviderHost): MusicProvider =>
    new Changed(host, (original, request, context) =>
      request.operation === "music" ? new NightingaleProvider(host).submit(change(request), context) : original(),
    );

/** Changes the options of a request before the provider sees them. */
const withOptions = (change: (options: OptionValues) => OptionValues): ((host: ProviderHost) => MusicProvider) =>
  withRequest((request) => ({ ...request, options: change(request.options) }));

/** Sends whatever options there are under their own names. */
class Careless extends NightingaleProvider {
  override submit(request: SubmitRequest, context: CallContext): Promise<Completed | Accepted> {
    const given = request.operation === "music" ? request.options : {};
    const fetch: ProviderHost["fetch"] = (input, init) => {
      const body = { ...(JSON.parse(init?.body as string) as object), ...given };
      return this.host.fetch(input, { ...init, body: JSON.stringify(body) });
    };
    return new NightingaleProvider({ ...this.host, fetch }).submit(request, context);
  }
}

const BROKEN: readonly Broken[] = [
  [
    "shortens the prompt",
    broken(withRequest((request) => ({ ...request, prompt: request.prompt.slice(0, 9) }))),
    "sends the prompt",
    /what was sent: expected.*to include 'zither by an oxbow lake'/s,
  ],
  [
    "drops the lyrics",
    broken(withRequest((request) => ({ ...request, lyrics: null }))),
    "sends the lyrics",
    /what was sent: expected.*to include 'Quinces ripen/s,
  ],
  [
    "sends no duration where a request names none",
    broken(withRequest((request) => ({ ...request, model: { ...request.model, duration: null } }))),
    "sends the default duration",
    /what was sent without a duration: expected/,
  ],
  [
    "sends a default duration that the operator changed",
    broken(withRequest((request) => ({ ...request, durationSeconds: request.durationSeconds ?? 45 }))),
    "sends the d",
    /^sends the duration of nightingale\/v2.*10 s: what was sent without a duration/,
  ],
  [
    "drops the duration",
    broken(withRequest((request) => ({ ...request, durationSeconds: 45 }))),
    "sends the duration",
    /what was sent for 10 s, and for 45 s: expected.*to not equal/,
  ],
  [
    "names another model",
    broken(withRequest((request) => ({ ...request, model: { ...request.model, upstream: "gale-1" } }))),
    "as it is known there",
    /what was sent has gale-2: expected false to equal true/,
  ],
  [
    "drops an option that it declares",
    broken(withOptions(({ seed: _dropped, ...kept }) => kept)),
    "sends the option seed",
    /sends the option seed.*expected \{\} to deeply equal \{ seed: \+?0 \}/,
  ],
  [
    "sends an option that was not given",
    broken(withOptions((options) => ({ seed: 7, ...options }))),
    "sends no option",
    /expected \{ seed: 7 \} to deeply equal \{\}/,
  ],
  [
    "sends options that it does not declare",
    broken((host) => new Careless(host)),
    "sends no option",
    /an option that the model does not declare/,
  ],
];

describeBroken("The conformance suite of providers, of what is sent", BROKEN);
