import { Words } from "../shell/view.js";
import type { ApiDocument, DescribedResponse } from "./document.js";
import { Example, Members } from "./members.js";
import { bodyOf, type Operation } from "./operations.js";
import { headerOf } from "./schemas.js";

interface ResponsesProps {
  readonly operation: Operation;
  readonly document: ApiDocument;
}

/** Successes with their bodies; refusals by their codes. */
export function Responses({ operation: { responses = {} }, document }: ResponsesProps) {
  const all = Object.entries(responses);
  if (all.length === 0) return null;
  return (
    <section class="part">
      <h2>Responses</h2>
      {all.map(([status, response]) =>
        Number(status) < 400 ? (
          <Success key={status} status={status} response={response} document={document} />
        ) : (
          <Refusal key={status} status={status} response={response} />
        ),
      )}
    </section>
  );
}

interface ResponseProps {
  readonly status: string;
  readonly response: DescribedResponse;
}

function Success({ status, response, document }: ResponseProps & { readonly document: ApiDocument }) {
  const body = bodyOf(response.content);
  const examples = Object.entries(body?.media.examples ?? {});
  return (
    <div class="response">
      <h3>
        <span class="badge good">{status}</span> {response.description}
      </h3>
      {body?.media.schema === undefined ? null : <Members document={document} schema={body.media.schema} />}
      {Object.keys(response.headers ?? {}).length === 0 ? null : (
        <details>
          <summary>Headers</summary>
          <ul class="members">
            {Object.entries(response.headers ?? {}).map(([name, header]) => (
              <li key={name}>
                <code class="name">{name}</code>
                <p>
                  <Words text={headerOf(document, header).description ?? ""} />
                </p>
              </li>
            ))}
          </ul>
        </details>
      )}
      {examples.map(([name, { value }]) => (
        <details key={name} open={name === examples[0]?.[0]}>
          <summary>Example: {name}</summary>
          <Example value={value} label={`Example: ${name}`} />
        </details>
      ))}
    </div>
  );
}

function Refusal({ status, response }: ResponseProps) {
  const body = bodyOf(response.content);
  return (
    <div class="response">
      <h3>
        <span class="badge bad">{status}</span>
        <span>
          <Words text={response.description} />
        </span>
      </h3>
      {Object.entries(body?.media.examples ?? {}).map(([code, { value }]) => (
        <details key={code}>
          <summary>
            <code>{code}</code>
          </summary>
          <p>
            <a href={`#/guides/errors/${code}`}>
              What <code>{code}</code> means and what to do
            </a>
          </p>
          <Example value={value} label={`Example: ${code}`} />
        </details>
      ))}
    </div>
  );
}
