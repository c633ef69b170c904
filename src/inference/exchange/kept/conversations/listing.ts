/** Items of a conversation as clients see them: pages in slices that all callers share. */
import { fail, type WeirError } from "../../../../base/errors.ts";
import type { SharedTurns } from "../../../../base/turns/shared-turns.ts";
import { type KeptItems, listedItems, placesOf } from "../../../../wire/responses/given-items.ts";
import { type Page, pageJson } from "../item-pages.ts";
import { MOST_QUOTED } from "../stored-responses.ts";

/** JSON texts of the items at these places. */
export const itemTexts = (
  turns: SharedTurns,
  orgId: string,
  kept: KeptItems,
  indices: readonly number[],
): Promise<string[]> => turns.run(orgId, listedItems(kept.items, placesOf(kept), indices, true));

/** JSON of a page of them. */
export const itemList = async (
  turns: SharedTurns,
  orgId: string,
  kept: KeptItems,
  page: Page,
): Promise<string> => pageJson(kept, page, await itemTexts(turns, orgId, kept, page.indices));

/** Status and words as at OpenAI. */
export const noPageAt = (id: string, param: string): WeirError =>
  fail("not_found", `No item found with id '${id.slice(0, MOST_QUOTED)}'`, { param });
