import { useMemo, useRef, useState } from "preact/hooks";
import { BASE_URL, PUBLIC_URL } from "../../parts/base.js";
import { CodePanel } from "../../parts/code-panel.js";
import type { CodeRequest } from "../../parts/code.js";
import { Button } from "../../parts/elements.js";
import { newIdempotencyKey } from "../../../client/key.js";
import { isCharged, type Operation } from "../description/operations.js";
import { apiKey, hasSession } from "./access.js";
import { Confirmation, needsConfirmation } from "./confirmation.js";
import { Inputs } from "./inputs.js";
import { KeyField } from "./key-field.js";
import { type Entered, fieldsOf, initialBody, initialValue, requestOf } from "./request.js";
import { Outcome } from "./outcome.js";
import { send, type Sent } from "./send.js";

interface TryProps {
  readonly operation: Operation;
  /** The form is to be as it was first. */
  readonly onReset: () => void;
}

/** What is sent, and what came of it. */
interface Attempt {
  readonly key: string;
  readonly sent?: Sent;
  readonly error?: string;
}

const HERE = BASE_URL.replace(/\/$/, "");

/** A form that sends the operation, and the same request as code. */
export function Try({ operation, onReset }: TryProps) {
  const [entered, setEntered] = useState<Entered>(() => ({
    parameters: Object.fromEntries(fieldsOf(operation).map((each) => [each.name, initialValue(each)])),
    body: initialBody(operation),
    form: {},
  }));
  const [attempt, setAttempt] = useState<Attempt>();
  const [isRepeated, setRepeated] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const running = useRef<AbortController | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const charged = isCharged(operation);

  const start = (): void => {
    const issue = whatIsMissing(operation, entered);
    setProblem(issue);
    if (issue !== undefined) return;
    if (needsConfirmation(operation)) setAsking(true);
    else void run();
  };

  const run = async (): Promise<void> => {
    setAsking(false);
    const key = isRepeated && attempt !== undefined ? attempt.key : newIdempotencyKey();
    const controller = new AbortController();
    running.current = controller;
    setBusy(true);
    setAttempt({ key });
    try {
      const request = requestOf(operation, entered, HERE, key);
      const progress = (sent: Sent): void => setAttempt({ key, sent });
      setAttempt({ key, sent: await send(request, apiKey.value, entered.form, controller.signal, progress) });
    } catch (error) {
      if (controller.signal.aborted) setAttempt((before) => ({ ...before, key, error: "Stopped." }));
      else setAttempt({ key, error: `The server cannot be reached. ${(error as Error).message}` });
    }
    setBusy(false);
  };

  return (
    <div class="try">
      <section class="card part" aria-labelledby="try-heading">
        <h2 id="try-heading">Try it</h2>
        <form
          class="part"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            start();
          }}
        >
          <KeyField />
          <Inputs operation={operation} entered={entered} onChange={setEntered} />
          {charged ? (
            <label class="check">
              <input
                type="checkbox"
                checked={isRepeated}
                disabled={attempt === undefined}
                onChange={(event) => setRepeated(event.currentTarget.checked)}
              />
              <span>
                Same key again
                <small>
                  Repeats the last Idempotency-Key: the stored response comes again, and nothing is charged. Otherwise
                  every press has a new key.
                </small>
              </span>
            </label>
          ) : null}
          <p class="issue" role="alert">
            {problem}
          </p>
          <div class="row">
            <Button type="submit" look="primary" isBusy={isBusy}>
              {isBusy ? "Sending…" : `Send ${operation.method}`}
            </Button>
            {isBusy ? (
              <Button onClick={() => running.current?.abort()}>Stop</Button>
            ) : (
              <Button onClick={onReset}>Start over</Button>
            )}
          </div>
        </form>
        <Outcome sent={attempt?.sent} error={attempt?.error} idempotencyKey={charged ? attempt?.key : undefined} />
      </section>
      <Code operation={operation} entered={entered} />
      {isAsking ? (
        <Confirmation
          operation={operation}
          isRepeated={isRepeated && attempt !== undefined}
          onConfirm={() => void run()}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </div>
  );
}

/** Undefined: it can be sent. */
function whatIsMissing(operation: Operation, entered: Entered): string | undefined {
  if (apiKey.value === "" && !hasSession.value) return "Enter an API key first.";
  const empty = fieldsOf(operation).find(({ name, required }) => required === true && !entered.parameters[name]);
  if (empty !== undefined) return `${empty.name} is needed.`;
  return readRequest(operation, entered, "") === null ? "The body is not valid JSON." : undefined;
}

function readRequest(operation: Operation, entered: Entered, key: string): CodeRequest | null {
  try {
    return requestOf(operation, entered, PUBLIC_URL, key);
  } catch {
    return null;
  }
}

interface CodeProps {
  readonly operation: Operation;
  readonly entered: Entered;
}

function Code({ operation, entered }: CodeProps) {
  const [copies, setCopies] = useState(0);
  const copied = (): void => setCopies((count) => count + 1);
  // Every request that is carried out needs a key of its own.
  const key = useMemo(newIdempotencyKey, [entered, copies]);
  const request = readRequest(operation, entered, key);
  return (
    <section class="card part" aria-labelledby="code-heading">
      <h2 id="code-heading">The same as code</h2>
      {request === null ? (
        <p class="soft">The body is not valid JSON.</p>
      ) : (
        <CodePanel request={request} onCopied={copied} onLanguage={copied} />
      )}
    </section>
  );
}
