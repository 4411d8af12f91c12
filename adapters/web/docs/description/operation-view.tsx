import { useState } from "preact/hooks";
import { Method } from "../shell/contents.js";
import { Prose, View } from "../shell/view.js";
import { Try } from "../try/try.js";
import type { ApiDocument } from "./document.js";
import { Example, Members, MemberRow } from "./members.js";
import { bodyOf, isCharged, type Operation, scopesOf } from "./operations.js";
import { Responses } from "./responses.js";

interface OperationViewProps {
  readonly operation: Operation;
  readonly document: ApiDocument;
}

/** An operation with all that is known of it, and a form to try it. */
export function OperationView({ operation, document }: OperationViewProps) {
  const { method, path, summary, description, parameters = [], requestBody, isEvent } = operation;
  const body = bodyOf(requestBody?.content);
  return (
    <View title={summary ?? path}>
      {isEvent ? null : (
        <p class="call address">
          <Method method={method} /> <code>{path}</code>
        </p>
      )}
      <div class="columns">
        <div class="described">
          <Prose text={description} />
          {isEvent ? null : <Needs operation={operation} />}
          {parameters.length === 0 ? null : (
            <section class="part">
              <h2>Parameters</h2>
              <ul class="members">
                {parameters.map(({ name, in: place, required = false, description: words, schema, example }) => (
                  <MemberRow
                    key={name}
                    document={document}
                    name={name}
                    schema={{ ...schema, ...(words === undefined ? {} : { description: words }) }}
                    isRequired={required}
                    note={place}
                    example={example}
                  />
                ))}
              </ul>
            </section>
          )}
          {body === null ? null : (
            <section class="part">
              <h2>
                Body <small>{body.type}</small>
              </h2>
              {body.media.schema === undefined ? null : <Members document={document} schema={body.media.schema} />}
              {isEvent ? <Example value={body.example} label="Example" /> : null}
            </section>
          )}
          <Responses operation={operation} document={document} />
        </div>
        {isEvent ? null : <TryAgainAfterChange operation={operation} />}
      </div>
    </View>
  );
}

/** The form as it was first; `Start over` brings it back. */
function TryAgainAfterChange({ operation }: { readonly operation: Operation }) {
  const [round, setRound] = useState(0);
  return <Try key={round} operation={operation} onReset={() => setRound(round + 1)} />;
}

const LIMITS: Readonly<Record<string, string>> = {
  read: "reads",
  generation: "generations",
  write: "writes",
};

function Needs({ operation }: { readonly operation: Operation }) {
  const scopes = scopesOf(operation);
  const limit = LIMITS[operation["x-rate-limit"] ?? ""];
  return (
    <dl class="needs">
      <div>
        <dt>Scope</dt>
        <dd>{scopes.length === 0 ? "any key" : scopes.map((scope) => <code key={scope}>{scope}</code>)}</dd>
      </div>
      {limit === undefined ? null : (
        <div>
          <dt>Counts as</dt>
          <dd>
            <a href="#/guides/limits/requests">{limit}</a>
          </dd>
        </div>
      )}
      <div>
        <dt>Credits</dt>
        <dd>{isCharged(operation) ? <a href="#/guides/idempotency">costs credits, once</a> : "none"}</dd>
      </div>
    </dl>
  );
}
