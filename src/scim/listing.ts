/**
 * Lists with filters. An equality that an index knows reads only what it finds; anything else reads all rows, in slices between
 * which the process does other work, and counts its steps.
 */
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import type { MaybePromise } from "../maybe-promise.ts";
import type { ResourceSchema } from "./attribute.ts";
import { type Projection, readProjection } from "./attributes.ts";
import { type Filter, parseFilter } from "./filter.ts";
import { type ListBody, listBody, type Paging, readPaging } from "./list.ts";
import { matches, type RequiredEquality, requiredEquality } from "./match.ts";
import { Steps } from "./steps.ts";

/** Rows read in one go: about a millisecond. */
export const SLICE = 50;

export const projectionQuery = {
  attributes: z.string().optional().describe("Names of the attributes to show, separated by commas"),
  excludedAttributes: z.string().optional().describe("Names of the attributes to leave out"),
};

export const listQuery = z.object({
  filter: z.string().optional().describe('Such as `userName eq "ann@example.com"`; RFC 7644 section 3.4.2.2'),
  startIndex: z.string().optional().describe("Of the first one; counted from 1"),
  count: z.string().optional().describe("So many at most, up to 200; 0 only counts"),
  ...projectionQuery,
});

type ListQuery = z.output<typeof listQuery>;

export interface Listed<R> {
  readonly schema: ResourceSchema;
  /** How many there are without a filter. */
  readonly total: number;
  /** Rows that an index has for an equality; undefined if none does. */
  indexed(sought: RequiredEquality): readonly R[] | undefined;
  /** All rows, in order, strictly after an id. Read lazily. */
  after(id: string | undefined): Iterable<R>;
  /** The resource as far as the filter looks at it. */
  forFilter(row: R, filter: Filter, steps: Steps): MaybePromise<object>;
  /** The resource as the answer shows it. */
  shown(row: R, projection: Projection, steps: Steps): MaybePromise<Record<string, unknown>>;
}

/** @throws ScimError `invalidFilter`, `invalidValue`, `tooMany` */
export async function list<R extends { readonly id: string }>(
  listed: Listed<R>,
  query: ListQuery,
): Promise<ListBody<Record<string, unknown>>> {
  const paging = readPaging(query.startIndex, query.count);
  const projection = readProjection(listed.schema, query.attributes, query.excludedAttributes);
  const steps = new Steps();
  const { filter: text = "" } = query;
  const filter = text.trim() === "" ? undefined : parseFilter(text, listed.schema, steps);
  const found =
    filter === undefined ? await page(listed, paging) : await search(listed, paging, filter, steps);
  const shown: Record<string, unknown>[] = [];
  for (const row of found.rows) shown.push(await listed.shown(row, projection, steps));
  return listBody(found.total, paging.startIndex, shown);
}

interface Found<R> {
  readonly total: number;
  readonly rows: readonly R[];
}

async function page<R extends { readonly id: string }>(
  listed: Listed<R>,
  { startIndex, count }: Paging,
): Promise<Found<R>> {
  const rows: R[] = [];
  if (count === 0 || startIndex > listed.total) return { total: listed.total, rows };
  let at = 0;
  await scan(listed.after, (row) => {
    if (++at >= startIndex) rows.push(row);
    return rows.length < count;
  });
  return { total: listed.total, rows };
}

async function search<R extends { readonly id: string }>(
  listed: Listed<R>,
  { startIndex, count }: Paging,
  filter: Filter,
  steps: Steps,
): Promise<Found<R>> {
  let total = 0;
  const rows: R[] = [];
  const look = async (row: R) => {
    const resource = listed.forFilter(row, filter, steps);
    // Most are at hand: a promise for each row would cost more than the comparison.
    if (!matches(filter, resource instanceof Promise ? await resource : resource, steps)) return true;
    if (++total >= startIndex && rows.length < count) rows.push(row);
    return true;
  };
  const sought = requiredEquality(filter);
  const indexed = sought && listed.indexed(sought);
  if (indexed !== undefined) for (const row of indexed) await look(row);
  else await scan(listed.after, look);
  return { total, rows };
}

/** Visits rows in slices, until `visit` returns false. */
export async function scan<R extends { readonly id: string }>(
  after: (id: string | undefined) => Iterable<R>,
  visit: (row: R) => MaybePromise<boolean>,
): Promise<void> {
  for (let last: string | undefined, count = SLICE; count === SLICE; ) {
    count = 0;
    const slice: R[] = [];
    for (const row of after(last)) {
      slice.push(row);
      if (++count === SLICE) break;
    }
    for (const row of slice) if (!(await visit(row))) return;
    last = slice.at(-1)?.id;
    await setImmediate();
  }
}
