import { navigate } from "../../parts/route.js";
import { useResource } from "../../parts/resource.js";
import { Action } from "../action.js";
import type { ActionField } from "../action-field.js";
import { admin, read, type Schemas } from "../api.js";
import { may } from "../session.js";
import { counted } from "../words.js";
import { optionsIn } from "./options.js";
import { payerField } from "./payer.js";

type Model = Schemas["Model"];
type Request = Schemas["GenerationRequest"];
type Values = Readonly<Record<string, string>>;

/** Where every model is named with its price. */
function modelField(choices: readonly (readonly [value: string, words: string])[]): ActionField {
  return { name: "model_id", label: "Model", hint: "Each with what one generation costs the account.", choices };
}

const PROMPT: ActionField = { name: "prompt", label: "Prompt", type: "long" };
const OTHERS: readonly ActionField[] = [
  { name: "lyrics", label: "Lyrics", type: "long", isOptional: true },
  { name: "duration", label: "Seconds", hint: "Empty: as usual for the model.", type: "number", isOptional: true },
  { name: "instrumental", label: "Without a voice", type: "check", isOptional: true },
  {
    name: "options",
    label: "Options of the model",
    hint: "One a line, such as seed=42. Models lists them.",
    type: "long",
    isOptional: true,
  },
];

/** What both dialogs ask for. @throws {Error} an option that cannot be read */
function requestOf(model: Model, values: Values): Request {
  const { prompt = "", lyrics = "", duration = "", instrumental, options = "" } = values;
  const given = optionsIn(options, model.options);
  return {
    model_id: model.id,
    prompt,
    ...(lyrics === "" ? {} : { lyrics }),
    ...(duration === "" ? {} : { duration: Number(duration) }),
    ...(instrumental === "true" ? { instrumental: true } : {}),
    ...(Object.keys(given).length === 0 ? {} : { options: given }),
  };
}

/** Sends the request under the key of its dialog, and goes to the job. */
async function create(account: string, body: Request, headers: object, key: string): Promise<string> {
  const { job, repeated } = await read(
    admin.POST("/admin/v1/accounts/{id}/generations", {
      params: { path: { id: account } },
      headers: { ...headers, "Idempotency-Key": key },
      body,
    }),
  );
  navigate(`/jobs/${job.id}`);
  return repeated
    ? "It was accepted before: this is that job. Nothing was charged again."
    : `The job is accepted; ${counted(job.credits_charged, "credit")} are reserved.`;
}

function useModels(): readonly Model[] {
  const { data } = useResource(
    async (signal) => (may("operate") ? await read(admin.GET("/admin/v1/models", { signal })) : { models: [] }),
    [],
  );
  return data?.models.filter(({ status }) => status === "available") ?? [];
}

interface NewGenerationProps {
  readonly account: Schemas["AdminAccountReport"];
  readonly onDone: () => void;
}

export function NewGeneration({ account: { id, name, credits }, onDone }: NewGenerationProps) {
  const models = useModels();
  if (models.length === 0) return null;
  return (
    <Action
      label="New generation…"
      look="primary"
      needs="operate"
      title={`Create a generation for ${name}`}
      submit="Spend the credits"
      fields={[
        modelField(models.map((one) => [one.id, `${one.name}: ${counted(one.credit_cost, "credit")}`])),
        PROMPT,
        ...OTHERS,
      ]}
      run={(values, headers, { key }) => {
        const model = models.find((one) => one.id === values["model_id"]);
        if (model === undefined) throw new Error("There is no such model.");
        return create(id, requestOf(model, values), headers, key);
      }}
      onDone={onDone}
    >
      <p>
        {name} gets the tracks and pays <strong>the price that is named with the model</strong>; it has{" "}
        {counted(credits.available, "credit")}. A job that fails is refunded.
      </p>
    </Action>
  );
}

interface FromTrackProps {
  readonly track: Schemas["AdminTrackReport"];
  readonly onDone: () => void;
}

const MODES = { extend: "go on from it", cover: "another version", inpaint: "replace a part" } as const;

/** Music that works from a track, in the modes that the models have. */
export function FromTrack({ track, onDone }: FromTrackProps) {
  const ways = useModels().flatMap((model) => model.references.map((reference) => ({ model, ...reference })));
  if (ways.length === 0) return null;
  return (
    <Action
      label="Work from it…"
      needs="operate"
      title={`Create a generation from ${track.title}`}
      submit="Spend the credits"
      fields={[
        modelField(
          ways.map(({ model, mode, credit_cost: cost }, index) => [
            String(index),
            `${model.name}, ${MODES[mode]}: ${counted(cost, "credit")}`,
          ]),
        ),
        payerField(track),
        PROMPT,
        { name: "from", label: "From", hint: "Seconds: where it goes on, or the part begins.", isOptional: true },
        { name: "to", label: "To", hint: "Seconds: where the part ends.", isOptional: true },
        { name: "strength", label: "Strength", hint: "How much is kept, 0 to 1.", isOptional: true },
        ...OTHERS,
      ]}
      run={({ account = "", ...values }, headers, { key }) => {
        const way = ways[Number(values["model_id"])];
        const payer = account === "" ? track.account : account;
        if (way === undefined || payer === null) throw new Error("There is no such model.");
        const reference = { track_id: track.id, mode: way.mode, ...numbersIn(values) };
        return create(payer, { ...requestOf(way.model, values), reference }, headers, key);
      }}
      onDone={onDone}
    >
      <p>
        The account gets the tracks and pays <strong>the price that is named with the model</strong>. A job that fails
        is refunded.
      </p>
    </Action>
  );
}

function numbersIn(values: Values): { from?: number; to?: number; strength?: number } {
  return Object.fromEntries(
    ["from", "to", "strength"].flatMap((name) => {
      const value = values[name] ?? "";
      return value === "" ? [] : [[name, Number(value)]];
    }),
  );
}
