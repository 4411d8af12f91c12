import { Words } from "../shell/view.js";
import type { ApiDocument, Parameter, Schema } from "./document.js";
import { boundsOf, membersOf, resolved, typeOf } from "./schemas.js";

const DEPTH_MAX = 6;

interface MembersProps {
  readonly document: ApiDocument;
  readonly schema: Schema;
  readonly depth?: number;
}

/** The members of an object, with those of objects in it behind a click. */
export function Members({ document, schema, depth = 0 }: MembersProps) {
  const members = membersOf(document, schema);
  if (members.length === 0) return <p class="soft">{typeOf(document, schema)}</p>;
  return (
    <ul class="members">
      {members.map(([name, member, isRequired]) => (
        <MemberRow
          key={name}
          document={document}
          name={name}
          schema={member}
          isRequired={isRequired}
          depth={depth}
          isOpen={members.length === 1}
        />
      ))}
    </ul>
  );
}

interface MemberRowProps {
  readonly document: ApiDocument;
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  /** Where it is sent. */
  readonly note?: string;
  readonly example?: Parameter["example"];
  readonly depth?: number;
  /** Its own members are shown from the beginning: it is an envelope. */
  readonly isOpen?: boolean;
}

export function MemberRow(props: MemberRowProps) {
  const { document, name, schema, isRequired, note, example, depth = 0, isOpen = false } = props;
  const whole = resolved(document, schema);
  const { description, enum: values } = whole;
  const inner = depth < DEPTH_MAX ? membersOf(document, schema) : [];
  return (
    <li>
      <p class="member">
        <code class="name">{name}</code> <span class="soft">{typeOf(document, schema)}</span>
        {note === undefined ? null : <span class="soft">· in {note}</span>}
        {isRequired ? <span class="badge">required</span> : null}
      </p>
      {description === undefined ? null : (
        <p>
          <Words text={description} />
        </p>
      )}
      <Facts bounds={boundsOf(whole)} values={values} example={example} />
      {inner.length === 0 ? null : (
        <details open={isOpen}>
          <summary>
            Members of <code>{name}</code>
          </summary>
          <Members document={document} schema={schema} depth={depth + 1} />
        </details>
      )}
    </li>
  );
}

interface FactsProps {
  readonly bounds: readonly string[];
  readonly values: readonly unknown[] | undefined;
  readonly example: Parameter["example"];
}

function Facts({ bounds, values, example }: FactsProps) {
  if (bounds.length === 0 && values === undefined && example === undefined) return null;
  return (
    <p class="facts soft">
      {values === undefined ? null : (
        <span>
          one of{" "}
          {values.map((value) => (
            <code key={String(value)}>{String(value)}</code>
          ))}
        </span>
      )}
      {bounds.map((bound) => (
        <span key={bound}>{bound}</span>
      ))}
      {example === undefined ? null : (
        <span>
          such as <code>{String(example)}</code>
        </span>
      )}
    </p>
  );
}

export function Example({ value, label }: { readonly value: unknown; readonly label: string }) {
  if (value === undefined) return null;
  return (
    <div class="code">
      <pre tabIndex={0} aria-label={label}>
        <code>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</code>
      </pre>
    </div>
  );
}
