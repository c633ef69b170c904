/** Pages of lists that are read row by row, newest first. */
import { z } from "zod";
import { nextTurn } from "../clock.ts";
import type { SharedTurns } from "../turns/shared-turns.ts";
import type { Cursors } from "./cursor.ts";
import * as field from "./fields.ts";

/** Query of a paged list. */
export const pageQuery = (usual: number, most: number) => ({
  limit: z.coerce.number().int().min(1).max(most).default(usual).describe("So many at most."),
  cursor: z.string().optional().describe("`next_cursor` of the page before."),
});

/** A list that is told whole. */
export const listOf = <S extends z.ZodType>(item: S) =>
  z.object({ object: field.objectOf("list"), data: z.array(item).describe("What is listed.") });

/** The answer of a list that is told whole. */
export const listed = <T>(data: T[]) => ({ object: "list" as const, data });

export const pageOf = <S extends z.ZodType>(item: S) =>
  listOf(item).extend({
    next_cursor: z.string().describe("Asks for the next page; empty on the last one."),
  });

/** Rows read per page: a filter that few rows match yields a short page instead of blocking the process. */
const MAX_SCAN = 5000;

export interface PageOptions<R> {
  readonly cursors: Cursors;
  /** Name of the list; one for each org, so that a cursor of another org reads as the first page. */
  readonly list: string;
  readonly limit: number;
  readonly cursor: string | undefined;
  /** Rows after a position (`undefined`: all), newest first. Read lazily. */
  readonly rows: (after: (string | number)[] | undefined) => Iterable<R>;
  readonly positionOf: (row: R) => readonly (string | number)[];
  readonly matches?: (row: R) => boolean;
}

interface Page<R> {
  readonly data: R[];
  readonly next_cursor: string;
}

/**
 * One page; `next_cursor` is empty if no row is left after it.
 * @param mostRead rows that are looked at
 */
export function readPage<R>(options: PageOptions<R>, mostRead = MAX_SCAN): Page<R> {
  const { cursors, list, limit, positionOf, matches = () => true } = options;
  const data: R[] = [];
  let read = 0;
  let last: R | undefined;
  for (const row of options.rows(cursors.read(list, options.cursor))) {
    const isWanted = matches(row);
    if (last !== undefined && ((isWanted && data.length === limit) || read === mostRead)) {
      // The page ends at the last row read before this one: all older rows are still to come.
      return { data, next_cursor: cursors.write(list, positionOf(last)) };
    }
    if (isWanted) data.push(row);
    last = row;
    read++;
  }
  return { data, next_cursor: "" };
}

interface ShownOptions<R, W> extends Omit<PageOptions<R>, "limit" | "cursor"> {
  /** The members of {@link pageQuery}. */
  readonly asked: { readonly limit: number; readonly cursor?: string | undefined };
  readonly show: (row: R) => W;
}

/** A page as the API shows it: what most lists answer. */
export function shownPage<R, W>({ asked: { limit, cursor }, show, ...options }: ShownOptions<R, W>) {
  const { data, next_cursor } = readPage({ ...options, limit, cursor });
  return { object: "list" as const, data: data.map((row) => show(row)), next_cursor };
}

/** A {@link shownPage} of rows whose ids sort by time. @param options `rows` gets the id of the last row of the page before */
export const pageById = <R extends { readonly id: string }, W>({
  rows,
  ...options
}: Omit<ShownOptions<R, W>, "rows" | "positionOf"> & {
  readonly rows: (afterId: string | undefined) => Iterable<R>;
}) =>
  shownPage({
    ...options,
    rows: (after) => rows(after?.[0] as string | undefined),
    positionOf: ({ id }) => [id],
  });

/** Rows of some kilobytes that are read before the event loop may run again: about 2 ms. */
const ROWS_A_TURN = 40;

/** Like {@link readPage}, for rows that take long to read; what changes meanwhile is seen or not. @param show called once for each row */
export async function readPageInTurns<R, W>(
  options: PageOptions<R>,
  show: (row: R) => W,
): Promise<{ data: W[]; next_cursor: string }> {
  const shown: W[] = [];
  let { cursor } = options;
  for (;;) {
    const limit = Math.min(ROWS_A_TURN, options.limit - shown.length);
    const { data, next_cursor } = readPage({ ...options, cursor, limit });
    shown.push(...data.map(show));
    // Fewer than were asked for: no more rows, or too many that do not match.
    if (data.length < limit || next_cursor === "" || shown.length === options.limit)
      return { data: shown, next_cursor };
    cursor = next_cursor;
    await nextTurn();
  }
}

/** Rows that a walk looks at in one turn of the event loop: a millisecond or two. */
const WALKED_A_TURN = 100;
/** Rows that a walk looks at for one request. */
export const MOST_WALKED = 10_000;

interface WalkOptions<R, W> extends ShownOptions<R, W> {
  /** Shared by all walks of a list: however many walk at once, a turn has one slice. */
  readonly turns: Pick<SharedTurns, "next">;
  readonly orgId: string;
}

/**
 * Like {@link shownPage}, for lists of hundreds of thousands of rows of which a filter may pass over many. It looks at {@link MOST_WALKED}
 * rows at most: then the page is short or empty, and `next_cursor` goes on where it stopped. What changes meanwhile is seen or not.
 */
export async function walkedPage<R, W>({ asked, show, turns, orgId, ...options }: WalkOptions<R, W>) {
  const data: W[] = [];
  let { cursor } = asked;
  for (let walked = 0; ; walked += WALKED_A_TURN) {
    await turns.next(orgId);
    const page = readPage({ ...options, cursor, limit: asked.limit - data.length }, WALKED_A_TURN);
    data.push(...page.data.map(show));
    const isOver = page.next_cursor === "" || data.length === asked.limit;
    if (isOver || walked + WALKED_A_TURN >= MOST_WALKED)
      return { object: "list" as const, data, next_cursor: page.next_cursor };
    cursor = page.next_cursor;
  }
}
