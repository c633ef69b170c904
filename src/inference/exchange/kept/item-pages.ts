/** Pages of items, those of a response and those of a conversation: how they are asked for, and how they are told. */
import { z } from "zod";
import type { WeirError } from "../../../base/errors.ts";
import type { GivenItems } from "../../../wire/responses/given-items.ts";
import { inputItemsSchema } from "../../../wire/responses/schema.ts";

const listQuery = z.object({
  after: z.string().optional().describe("The page after this item."),
  before: z.string().optional().describe("The page before this item; with `after`, what is between them."),
  limit: z.coerce.number().int().min(1).max(100).default(20).describe("So many items at most."),
  order: z
    .enum(["asc", "desc"])
    .default("desc")
    .describe("By their place in the conversation; the last first unless `asc`."),
});

/** What routes of such pages have in common. */
export const itemPages = {
  method: "GET",
  access: "inference",
  group: "Inference",
  query: listQuery,
  output: inputItemsSchema,
  errors: ["not_found"],
} as const;

export interface PageQuery {
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

export interface Page {
  /** Places of its items in the conversation, in the order of the page. */
  readonly indices: readonly number[];
  readonly hasMore: boolean;
}

/** @returns the error for a page whose `after` or `before` names an unknown item */
export type NoSuchItem = (id: string, param: string) => WeirError;

/** Places of the page's items in the conversation, in the order of the page. @throws WeirError by `noSuchItem` */
export function pageOf(
  { ids }: Pick<GivenItems, "ids">,
  { after, before, limit, order }: PageQuery,
  noSuchItem: NoSuchItem,
): Page {
  const isDown = order === "desc";
  const placeOf = (id: string, param: string): number => {
    const index = ids.indexOf(id);
    if (index >= 0) return isDown ? ids.length - 1 - index : index;
    throw noSuchItem(id, param);
  };
  const first = after === undefined ? 0 : placeOf(after, "/after") + 1;
  const end = before === undefined ? ids.length : placeOf(before, "/before");
  // The page before an item ends with its neighbour, unless it is told where to begin.
  const isBackwards = before !== undefined && after === undefined;
  const from = isBackwards ? Math.max(0, end - limit) : first;
  const to = isBackwards ? end : Math.min(end, first + limit);
  const indices = Array.from({ length: Math.max(0, to - from) }, (_, at) =>
    isDown ? ids.length - 1 - from - at : from + at,
  );
  return { indices, hasMore: isBackwards ? from > 0 : to < end };
}

/** JSON of the page. @param texts JSON of its items */
export function pageJson(
  { ids }: Pick<GivenItems, "ids">,
  { indices, hasMore }: Page,
  texts: readonly string[],
): string {
  const idAt = (index: number | undefined) => JSON.stringify(index === undefined ? null : ids[index]);
  return (
    `{"object":"list","data":[${texts.join(",")}],"first_id":${idAt(indices[0])},` +
    `"last_id":${idAt(indices.at(-1))},"has_more":${hasMore}}`
  );
}
