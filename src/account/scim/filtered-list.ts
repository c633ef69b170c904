/**
 * Lists with filters. An equality that an index knows reads only what it finds; anything else reads all rows, in slices between
 * which the process does other work, and counts its steps. What changes meanwhile is seen or not, but nothing is told of twice.
 */
import { z } from "zod";
import { after, type MaybePromise } from "../../base/maybe-promise.ts";
import { type FullAnswer, raw } from "../../base/operation/answer.ts";
import type { ResourceSchema } from "./attribute.ts";
import { type Projection, projectionOf } from "./attributes.ts";
import { SCIM_MEDIA_TYPE } from "./error.ts";
import { type Filter, parseFilter } from "./filter/filter.ts";
import { matching, type RequiredEquality, requiredEquality } from "./filter/match.ts";
import { listText, type Paging, readPaging } from "./list.ts";
import { inSlices, Pace, STEPS_OF_ROW } from "./slices.ts";
import { Steps } from "./steps.ts";

/** Rows read in one go. */
const SLICE = 25;

export const projectionQuery = {
  attributes: z.string().optional().describe("Names of the attributes to show, separated by commas"),
  excludedAttributes: z.string().optional().describe("Names of the attributes to leave out"),
};

export const listQuery = z.object({
  filter: z.string().optional().describe('Such as `userName eq "ann@example.com"`; RFC 7644 section 3.4.2.2'),
  startIndex: z.string().optional().describe("Index of the first one; counted from 1"),
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
  /** The resource as the answer shows it: JSON in UTF-8. */
  shown(row: R, projection: Projection): MaybePromise<Buffer>;
  /** What it takes to show it, in steps. */
  cost(row: R): number;
}

/**
 * The answer of a list. Its JSON is written resource by resource, because writing all of it takes several milliseconds.
 * @throws ScimError `invalidFilter`, `invalidValue`, `tooMany`
 */
export async function list<R extends { readonly id: string }>(
  listed: Listed<R>,
  query: ListQuery,
): Promise<FullAnswer<never>> {
  const paging = readPaging(query.startIndex, query.count);
  const projection = projectionOf(listed.schema, query);
  const [steps, pace] = [new Steps(), new Pace()];
  const { filter: text = "" } = query;
  const filter = text.trim() === "" ? undefined : parseFilter(text, listed.schema, steps);
  const found =
    filter === undefined
      ? await page(listed, paging, pace)
      : await search(listed, paging, filter, { steps, pace });
  const resources: Buffer[] = [];
  for (const row of found.rows) {
    resources.push(await listed.shown(row, projection));
    pace.did(listed.cost(row));
    await pace.pauseIfDue();
  }
  return raw(SCIM_MEDIA_TYPE, listText(found.total, paging.startIndex, resources));
}

interface Found<R> {
  readonly total: number;
  readonly rows: readonly R[];
}

async function page<R extends { readonly id: string }>(
  listed: Listed<R>,
  { startIndex, count }: Paging,
  pace: Pace,
): Promise<Found<R>> {
  const rows: R[] = [];
  if (count === 0 || startIndex > listed.total) return { total: listed.total, rows };
  let at = 0;
  await scan(listed.after, pace, (row) => {
    if (++at >= startIndex) rows.push(row);
    return rows.length < count;
  });
  return { total: listed.total, rows };
}

async function search<R extends { readonly id: string }>(
  listed: Listed<R>,
  { startIndex, count }: Paging,
  filter: Filter,
  { steps, pace }: { readonly steps: Steps; readonly pace: Pace },
): Promise<Found<R>> {
  let total = 0;
  const rows: R[] = [];
  const tell = (row: R, isMatch: boolean): true => {
    if (isMatch && ++total >= startIndex && rows.length < count) rows.push(row);
    return true;
  };
  // Most are at hand: a promise for each row would cost more than the comparison.
  const look = (row: R): MaybePromise<boolean> => {
    const before = steps.taken;
    return after(listed.forFilter(row, filter, steps), (resource) => {
      pace.did(steps.taken - before);
      return after(inSlices(matching(filter, resource, steps), steps, pace), (isMatch) => tell(row, isMatch));
    });
  };
  const sought = requiredEquality(filter);
  const indexed = sought && listed.indexed(sought);
  if (indexed !== undefined) for (const row of indexed) await look(row);
  else await scan(listed.after, pace, look);
  return { total, rows };
}

/** Visits rows in slices, each strictly after the last row of the one before, until `visit` returns false. */
async function scan<R extends { readonly id: string }>(
  rowsAfter: (id: string | undefined) => Iterable<R>,
  pace: Pace,
  visit: (row: R) => MaybePromise<boolean>,
): Promise<void> {
  for (let last: string | undefined, count = SLICE; count === SLICE; ) {
    const slice: R[] = [];
    for (const row of rowsAfter(last)) if (slice.push(row) === SLICE) break;
    count = slice.length;
    pace.did(count * STEPS_OF_ROW);
    for (const row of slice) {
      const goesOn = visit(row);
      if (!(typeof goesOn === "boolean" ? goesOn : await goesOn)) return;
      if (pace.isDue) await pace.pause();
    }
    last = slice.at(-1)?.id;
  }
}
