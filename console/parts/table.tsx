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
            <tr key={keyOf(row)}>
              {columns.map(({ head, isNumber, cell }) => (
                <td key={head} class={isNumber === true ? "number" : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface ListTableProps<T> extends Omit<TableProps<T>, "rows"> {
  readonly list: ShownList<T>;
  /** What is shown where there is nothing: it says the next step. */
  readonly empty: ComponentChildren;
}

/** The rows of a paged operation, with a button for more. */
export function ListTable<T>({ list, empty, ...table }: ListTableProps<T>) {
  const { rows, fault, isBusy, hasMore, isThere } = list;
  return (
    <>
      <FaultNote fault={fault.value} onRetry={list.refresh} />
      {!isThere.value && fault.value === undefined && <Waiting />}
      {isThere.value && rows.value.length === 0 && <div class="empty">{empty}</div>}
      {rows.value.length > 0 && (
        <div class={isBusy.value ? "busy" : undefined}>
          <Table {...table} rows={rows.value} />
        </div>
      )}
      {hasMore.value && (
        <div class="row">
          <Button onClick={() => list.more()} isBusy={isBusy.value}>
            Show more
          </Button>
          <span class="quiet small">{rows.value.length} are shown.</span>
        </div>
      )}
    </>
  );
}
