/** Items of a conversation as clients see them: pages in slices that all callers share. */
import { fail, type WeirError } from "../../../../base/errors.ts";
import type { SharedTurns } from "../../../../base/turns/shared-turns.ts";
import { type KeptItems, listedItems, placesOf } from "../../../../wire/responses/given-items.ts";
import { MOST_QUOTED } from "../stored-responses.ts";

/** JSON texts of the items at these places. */
export const itemTexts = (
  turns: SharedTurns,
  orgId: string,
  kept: KeptItems,
  indices: readonly number[],
): Promise<string[]> => turns.run(orgId, listedItems(kept.items, placesOf(kept), indices, true));

/** JSON of a list of them. */
export async function itemList(
  turns: SharedTurns,
  orgId: string,
  kept: KeptItems,
  { indices, hasMore }: { readonly indices: readonly number[]; readonly hasMore: boolean },
): Promise<string> {
  const data = await itemTexts(turns, orgId, kept, indices);
  const idAt = (index: number | undefined) => JSON.stringify(index === undefined ? null : kept.ids[index]);
  return (
    `{"object":"list","data":[${data.join(",")}],"first_id":${idAt(indices[0])},` +
    `"last_id":${idAt(indices.at(-1))},"has_more":${hasMore}}`
  );
}

/** Status and words as at OpenAI. */
export const noPageAt = (id: string, param: string): WeirError =>
  fail("not_found", `No item found with id '${id.slice(0, MOST_QUOTED)}'`, { param });
