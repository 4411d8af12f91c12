import { expect } from "chai";
import {
  type Accepted,
  type Completed,
  ProviderFailure,
  type MusicProvider,
  type MusicRequest,
  type ProviderCapabilities,
  type ProviderHandle,
  type ProviderModel,
  type Snapshot,
  type SplitRequest,
  type SubmitRequest,
} from "../../../core/ports/music-provider.js";
import { RESULT_LIMITS } from "../../../core/results/clamp-result.js";
import { FakeApi, type Route } from "../../support/provider-kit/fake-api.js";
import { type HostOptions, type HostUnderTest, providerHost, settingsOf } from "../../support/provider-kit/host.js";
import { aMusicRequest, aSource, aSplitRequest } from "../../support/provider-kit/requests.js";
import { tinyMp3 } from "../../support/provider-kit/sounds.js";
import { completedIssues } from "./assets.js";
import { expectNone } from "./expect-none.js";
import {
  type ExpectedStems,
  type ExpectedTracks,
  isApplicable,
  type MusicProviderHarness,
  type OrNot,
  type Script,
  type SplitScenarios,
} from "./harness.js";

/** A plugin that asks forever after work that never ends would hang the suite. */
const POLLS_MAX = 100;

/** The operation that failures are tried on: a generation, or a split where there are none. */
export interface Operation {
  readonly name: SubmitRequest["operation"];
  /** null without network. */
  readonly submit: Route | null;
  readonly completes: Script<ExpectedTracks | ExpectedStems>;
  request(parts?: Partial<Pick<SubmitRequest, "jobId" | "attemptId" | "attempt" | "callbackUrl">>): SubmitRequest;
}

/** One plugin, started against its own fake. */
export class ProviderUnderTest {
  /** Whatever left the plugin as text: handles, failures with their causes. */
  private readonly said: string[] = [];
  private readonly others: ProviderUnderTest[] = [];

  private constructor(
    readonly harness: MusicProviderHarness,
    readonly fake: FakeApi,
    readonly host: HostUnderTest,
    readonly provider: MusicProvider,
  ) {}

  /** @param parts of the host, in place of the real ones */
  static async open(
    harness: MusicProviderHarness,
    parts: Pick<HostOptions, "clock" | "fetch"> = {},
  ): Promise<ProviderUnderTest> {
    const fake = await FakeApi.open();
    const host = providerHost({
      settings: settingsOf(harness.definition, harness.settings(fake)),
      models: modelsOf(harness),
      ...parts,
    });
    return new ProviderUnderTest(harness, fake, host, harness.definition.create(host));
  }

  /** The plugin started once more, with other settings; closed together with this one, whatever a test comes to. */
  async another(settings: MusicProviderHarness["settings"]): Promise<ProviderUnderTest> {
    const other = await ProviderUnderTest.open({ ...this.harness, settings });
    this.others.push(other);
    return other;
  }

  get capabilities(): ProviderCapabilities {
    return capabilitiesOf(this.harness, this.host.settings);
  }

  /** Values of the settings that are marked secret. */
  get secrets(): string[] {
    return Object.entries(this.harness.definition.settings).flatMap(([name, { secret }]) => {
      const value = this.host.settings[name];
      return secret === true && typeof value === "string" && value.length >= 8 ? [value] : [];
    });
  }

  operations(): Operation[] {
    const { generation, stemSplit, vocalRemoval } = this.harness;
    const operations: Operation[] = [];
    const routeOf = (submit: OrNot<Route>): Route | null => (isApplicable(submit) ? submit : null);
    if (isApplicable(generation)) {
      operations.push({
        name: "music",
        submit: routeOf(generation.submit),
        completes: generation.completes,
        request: (parts) => this.music(parts),
      });
    }
    if (isApplicable(stemSplit))
      operations.push({
        ...stemSplit,
        submit: routeOf(stemSplit.submit),
        name: "stem_split",
        request: (parts) => this.split("stem_split", stemSplit, parts),
      });
    if (isApplicable(vocalRemoval))
      operations.push({
        ...vocalRemoval,
        submit: routeOf(vocalRemoval.submit),
        name: "vocal_removal",
        request: (parts) => this.split("vocal_removal", vocalRemoval, parts),
      });
    return operations;
  }

  get main(): Operation {
    const [main] = this.operations();
    if (main === undefined)
      throw new Error("The harness has no operation: give `generation`, `stemSplit` or `vocalRemoval`.");
    return main;
  }

  music(parts: Partial<MusicRequest> = {}): MusicRequest {
    const [model] = modelsOf(this.harness);
    if (model === undefined)
      throw new Error("There is no model: name some in the definition or in the harness (`models`).");
    return aMusicRequest(model, { ...this.harness.request, ...parts });
  }

  split(
    operation: SplitRequest["operation"],
    { source = {} }: Pick<SplitScenarios, "source">,
    parts: Partial<SplitRequest> = {},
  ): SplitRequest {
    const declared = operation === "stem_split" ? this.capabilities.stemSplit : this.capabilities.vocalRemoval;
    const content = tinyMp3("to be split");
    const url = declared?.needsUrl === true ? this.fake.file(content, "audio/mpeg", "source.mp3") : null;
    return aSplitRequest(operation, aSource({ url, ...source }, content), parts);
  }

  async submit(
    request: SubmitRequest,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Accepted | Completed> {
    const outcome = await this.provider.submit(request, { signal });
    if (outcome.state === "accepted") this.checkHandle(outcome.handle, outcome.nextPollMs);
    else this.expectWhole(outcome, request.operation);
    return outcome;
  }

  /** Submits work that the fake accepts. @returns its handle, as it comes back from storage */
  async accepted(request: SubmitRequest = this.main.request()): Promise<ProviderHandle> {
    const outcome = await this.submit(request);
    expect(outcome.state, "the scenario `work.accepts` leads to").to.equal("accepted");
    return stored((outcome as Accepted).handle);
  }

  /** Asks once, with whichever of the two methods there is. */
  async poll(handle: ProviderHandle, signal: AbortSignal = new AbortController().signal): Promise<Snapshot> {
    const { provider } = this;
    if (provider.poll !== undefined) return this.seen(await provider.poll(stored(handle), { signal }));
    expect(provider.pollMany, "`submit` answered `accepted`, and there is neither `poll` nor").to.be.a("function");
    const [response] = (await provider.pollMany?.([stored(handle)], { signal })) ?? [];
    if (response === undefined) throw new Error("`pollMany` answers one for each handle, and there was one handle");
    if (ProviderFailure.is(response)) throw response;
    return this.seen(response);
  }

  /** Asks until the work is completed. @returns it, and how often it was seen running */
  async finish(
    outcome: Accepted | Completed,
    operation: SubmitRequest["operation"],
  ): Promise<{ readonly completed: Completed; readonly running: number; readonly handle: ProviderHandle | null }> {
    if (outcome.state === "completed") return { completed: outcome, running: 0, handle: null };
    let { handle } = outcome;
    for (let polls = 0; polls < POLLS_MAX; polls += 1) {
      const snapshot = await this.poll(handle);
      if (snapshot.state === "completed") {
        this.expectWhole(snapshot, operation);
        return { completed: snapshot, running: polls, handle };
      }
      handle = snapshot.handle ?? handle;
    }
    throw new Error(`The work is still running after ${POLLS_MAX} polls: the scenario must lead to its end.`);
  }

  /** The failure that a promise is rejected with; anything else fails the test. */
  async failure(promise: Promise<unknown>): Promise<ProviderFailure> {
    let response: unknown;
    try {
      response = await promise;
    } catch (error) {
      return this.failureIn(error);
    }
    throw new Error(`Expected a failure, and got ${JSON.stringify(response)?.slice(0, 300)}`);
  }

  /** What was thrown, as the failure that it has to be. */
  failureIn(error: unknown): ProviderFailure {
    this.said.push(textsOf(error).join("\n"));
    const [what = "none"] = textsOf(error);
    if (!ProviderFailure.is(error))
      throw new Error(`Every failure is a ProviderFailure; this is ${what}`, { cause: error });
    expect(error.message.trim(), "a failure says something to the operator").to.not.equal("");
    return error;
  }

  /** Where a secret stands that must not be there. */
  leaks(): string[] {
    const lines = this.host.lines.map(({ message, fields }) => [message, ...textsOf(fields)].join("\n"));
    return [...this.said, ...lines].filter((text) => this.secrets.some((secret) => text.includes(secret)));
  }

  async close(): Promise<void> {
    try {
      for (const other of this.others) await other.close();
      await this.provider.close?.();
    } finally {
      // A server that still listens would keep the run from ending.
      await this.fake.close();
    }
    expectNone(this.leaks(), "a secret of the settings stands in an error, a log line or a handle");
  }

  private seen(snapshot: Snapshot): Snapshot {
    if (snapshot.state === "running") this.checkHandle(snapshot.handle, snapshot.nextPollMs);
    return snapshot;
  }

  private checkHandle(handle: ProviderHandle | undefined, nextPollMs: number): void {
    expect(nextPollMs, "nextPollMs")
      .to.be.a("number")
      .and.satisfy((value: number) => Number.isFinite(value) && value >= 0, "a number of milliseconds");
    if (handle === undefined) return;
    expect(Number.isSafeInteger(handle.version), "the handle's version is a whole number").to.equal(true);
    expect(stored(handle), "the handle, as it comes back from storage").to.deep.equal(handle);
    const json = JSON.stringify(handle);
    expect(Buffer.byteLength(json), "bytes of the handle as JSON").to.be.at.most(RESULT_LIMITS.handleBytes);
    this.said.push(json);
  }

  private expectWhole(completed: Completed, operation: SubmitRequest["operation"]): void {
    this.said.push(JSON.stringify(completed.tracks.map(({ title, tags, reference }) => [title, tags, reference])));
    expectNone(completedIssues(completed, operation), "issues of what was completed");
  }
}

/** As it comes back from storage. */
export function stored(handle: ProviderHandle): ProviderHandle {
  return JSON.parse(JSON.stringify(handle)) as ProviderHandle;
}

export function modelsOf({ models, definition }: MusicProviderHarness): readonly ProviderModel[] {
  return models ?? definition.models;
}

export function capabilitiesOf(
  { definition: { capabilities } }: MusicProviderHarness,
  settings: HostUnderTest["settings"],
): ProviderCapabilities {
  return typeof capabilities === "function" ? capabilities(settings) : capabilities;
}

/** All that a value and its causes say. */
function textsOf(value: unknown): string[] {
  if (value instanceof Error)
    return [
      `${value.name}: ${value.message}`,
      JSON.stringify(value),
      ...(value.cause === undefined ? [] : textsOf(value.cause)),
    ];
  return [typeof value === "string" ? value : (JSON.stringify(value) ?? typeof value)];
}
