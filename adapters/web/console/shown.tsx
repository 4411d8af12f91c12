import type { ComponentChildren } from "preact";
import { Badge } from "../parts/badge.js";
import { Copy } from "../parts/copy.js";
import { Button, ErrorNote } from "../parts/elements.js";
import { moment } from "../parts/format.js";
import type { Resource } from "../parts/resource.js";
import { Loading, Table, type TableProps } from "../parts/table.js";
import { shortId, STATES } from "./words.js";

/** A state as a badge. */
export function State({ of }: { readonly of: string }) {
  const [tone, word] = STATES[of] ?? ["neutral", of];
  return <Badge tone={tone}>{word}</Badge>;
}

/** An id in short, with a link to its view; the whole one is in the title. */
export function IdLink({ id, to }: { readonly id: string; readonly to: string }) {
  return (
    <a href={`#/${to}/${id}`} title={id} class="id">
      {shortId(id)}
    </a>
  );
}

/** An id as a whole, to be copied. */
export function WholeId({ id }: { readonly id: string }) {
  return (
    <span class="whole-id">
      <code>{id}</code>
      <Copy text={id} what="the id" />
    </span>
  );
}

/** A moment as it is written, for what is looked up rather than followed. */
export function Moment({ at }: { readonly at: string }) {
  return <time dateTime={at}>{moment(at)}</time>;
}

/** What was read, as soon as it is there; with what went wrong, and a button to try again. */
export function Loaded<Data>({
  of: { data, error, reload, isLoading },
  children,
}: {
  readonly of: Resource<Data>;
  readonly children: (data: Data) => ComponentChildren;
}) {
  return (
    <>
      {error === undefined ? null : <Retry error={error} reload={reload} isLoading={isLoading} />}
      {data === undefined ? error === undefined ? <Loading /> : null : children(data)}
    </>
  );
}

interface ListedProps<Data, Row> extends Omit<TableProps<Row>, "rows"> {
  readonly of: Resource<Data>;
  readonly rows: (data: Data) => readonly Row[];
}

/** A table of what was read, as soon as it is there; with what went wrong, and a button to try again. */
export function Listed<Data, Row>({ of, rows, ...table }: ListedProps<Data, Row>) {
  return <Loaded of={of}>{(data) => <Table {...table} rows={rows(data)} />}</Loaded>;
}

/** In place of no rows. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <>
      <strong>{title}</strong>
      {children}
    </>
  );
}

/** An error of a read. */
function Retry({
  error,
  reload,
  isLoading,
}: {
  readonly error: Error;
  readonly reload: () => void;
  readonly isLoading: boolean;
}) {
  return (
    <div class="retry">
      <ErrorNote error={error} />
      <Button onClick={reload} isBusy={isLoading}>
        Try again
      </Button>
    </div>
  );
}
