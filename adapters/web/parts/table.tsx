import type { ComponentChildren } from "preact";

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** `number`: set flush right. `main`: what names the row. `end`: actions. */
  readonly kind?: "number" | "main" | "end";
}

export interface TableProps<Row> {
  /** What it holds, for those who do not see it. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** In place of no rows. */
  readonly empty: ComponentChildren;
}

/**
 * On a phone each row is a block of its own, with the heads as labels. The roles are written out, since browsers drop
 * those of tables that are laid out otherwise.
 */
export function Table<Row>({ caption, columns, rows, keyOf, empty }: TableProps<Row>) {
  if (rows.length === 0) return <div class="empty">{empty}</div>;
  return (
    <div class="table-host">
      <div class="table-frame">
        <table role="table" class="table">
          <caption class="visually-hidden">{caption}</caption>
          <thead role="rowgroup">
            <tr role="row">
              {columns.map(({ head, kind }) => (
                <th key={head} role="columnheader" scope="col" class={kind}>
                  <span class={kind === "end" ? "visually-hidden" : undefined}>{head}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rows.map((row) => (
              <tr key={keyOf(row)} role="row">
                {columns.map(({ head, cell, kind }) => (
                  <td key={head} role="cell" class={kind} data-head={head}>
                    <div>{cell(row)}</div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** In place of what is being read. */
export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading</span>
      <i />
      <i />
      <i />
    </div>
  );
}

/** What is known of one thing: terms with their values. Those without a value are left out. */
export function Facts({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([term, value]) =>
        value === null || value === undefined ? null : (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
