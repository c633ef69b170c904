/** Tables, and lists that load page by page. */
import type { ComponentChildren } from "preact";
import type { ShownList } from "../api/answers.ts";
import { Button } from "./button.tsx";
import { FaultNote, Waiting } from "./note.tsx";

export interface Column<T> {
  readonly head: string;
  /** Numbers are aligned by their last digit. */
  readonly isNumber?: boolean;
  /** Rows can be ordered by it: how they are now, and what a click on its head does. */
  readonly order?: { readonly is: "ascending" | "descending" | "none"; readonly onOrder: () => void };
  readonly cell: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  /** What the rows are, for those who do not see the table. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
}

export function Table<T>({ label, columns, rows, keyOf }: TableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reached by the keyboard
    <section class="table-frame" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ head, isNumber, order }) => (
              <th
                key={head}
                scope="col"
                class={isNumber === true ? "number" : undefined}
                aria-sort={order?.is}
              >
                {order === undefined ? (
                  head
                ) : (
                  <button type="button" class="table-order" onClick={order.onOrder}>
                    {head}
                    {order.is === "none" ? "" : order.is === "ascending" ? " ↑" : " ↓"}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={keyOf(row)} row={row} columns={columns} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

/**
 * A component, so that it is drawn again only where its row, the columns, or what its cells read of signals has changed: a letter in a
 * filter, or a new row, leaves the others as they are.
 */
function Row<T>({ row, columns }: { readonly row: T; readonly columns: readonly Column<T>[] }) {
  return (
    <tr>
      {columns.map(({ head, isNumber, cell }) => (
        <td key={head} class={isNumber === true ? "number" : undefined}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

interface ListTableProps<T> extends Omit<TableProps<T>, "rows"> {
  readonly list: ShownList<T>;
  /** What is shown where there is nothing: it says the next step. */
  readonly empty: ComponentChildren;
}

/** The rows of a paged operation, with a button for more. */
export function ListTable<T>({ list, empty, ...table }: ListTableProps<T>) {
  const { rows, fault, isBusy, hasMore, isCut, isThere } = list;
  const isSought = !isThere.value || (rows.value.length === 0 && hasMore.value && isBusy.value);
  return (
    <>
      <FaultNote fault={fault.value} onRetry={list.refresh} />
      {isSought && fault.value === undefined && <Waiting />}
      {!isSought && rows.value.length === 0 && <div class="empty">{empty}</div>}
      {rows.value.length > 0 && (
        <div class={isBusy.value ? "busy" : undefined}>
          <Table {...table} rows={rows.value} />
        </div>
      )}
      {(hasMore.value || isCut.value) && (
        <div class="row">
          {hasMore.value && (
            <Button onClick={() => list.more()} isBusy={isBusy.value}>
              Show more
            </Button>
          )}
          {isCut.value && <Button onClick={() => list.refresh()}>Back to the first</Button>}
          <span class="quiet small">
            {isCut.value
              ? `The last ${rows.value.length} are shown, those before them no more.`
              : `${rows.value.length} are shown.`}
          </span>
        </div>
      )}
    </>
  );
}
