/** Pages of input items: where they begin and end, and that a conversation is looked through once for all of its pages. */
import { describe, expect, test } from "vitest";
import { SharedTurns } from "../../../../../src/base/turns/shared-turns.ts";
import { InputItems } from "../../../../../src/inference/exchange/kept/input-items.ts";
import type { PageQuery } from "../../../../../src/inference/exchange/kept/item-pages.ts";
import type { StoredResponses } from "../../../../../src/inference/exchange/kept/stored-responses.ts";
import { turnsDuring } from "../../../../support/turns.ts";

const ownerIn = (orgId: string) => ({ orgId, projectId: `p-${orgId}`, environment: "live" }) as const;

/** Pages of responses with so many items that are called a0, a1, … */
function pagesOf(counts: Readonly<Record<string, number>>, fill = "") {
  const textOf = (count: number) =>
    Array.from({ length: count }, (_, at) => `{"id":"a${at}","role":"user","content":"${fill}"}`).join(",");
  const texts = new Map(Object.entries(counts).map(([id, count]) => [id, textOf(count)]));
  const responses = {
    turns: new SharedTurns(),
    get: (_: unknown, id: string) =>
      texts.has(id) ? { items: texts.get(id), response: '{"output":[]}' } : undefined,
  } as unknown as StoredResponses;
  const items = new InputItems(responses);
  return async (id: string, query: Partial<PageQuery> = {}, orgId = "o") =>
    (await items.page(ownerIn(orgId), id, { limit: 20, order: "asc", ...query }))?.toString();
}

describe("where a page begins and ends", () => {
  test.each<[Partial<PageQuery>, string, boolean]>([
    [{ limit: 2 }, "a0 a1", true],
    [{ limit: 5 }, "a0 a1 a2 a3 a4", false],
    [{ limit: 5, order: "desc" }, "a4 a3 a2 a1 a0", false],
    [{ limit: 2, order: "desc" }, "a4 a3", true],
    [{ after: "a1", limit: 2 }, "a2 a3", true],
    [{ after: "a2", limit: 2 }, "a3 a4", false],
    [{ after: "a4" }, "", false],
    [{ after: "a1", limit: 2, order: "desc" }, "a0", false],
    [{ before: "a3", limit: 2 }, "a1 a2", true],
    [{ before: "a2", limit: 2 }, "a0 a1", false],
    [{ before: "a0" }, "", false],
    [{ before: "a1", limit: 2, order: "desc" }, "a3 a2", true],
    [{ before: "a4", order: "desc" }, "", false],
    [{ after: "a0", before: "a4", limit: 2 }, "a1 a2", true],
    [{ after: "a0", before: "a3", limit: 2 }, "a1 a2", false],
    [{ after: "a3", before: "a1" }, "", false],
  ])("%j", async (query, ids, hasMore) => {
    const page = JSON.parse((await pagesOf({ r: 5 })("r", query)) ?? "");
    const listed = ids === "" ? [] : ids.split(" ");
    expect(page.data.map(({ id }: { id: string }) => id)).toEqual(listed);
    expect(page).toMatchObject({
      object: "list",
      first_id: listed[0] ?? null,
      last_id: listed.at(-1) ?? null,
      has_more: hasMore,
    });
  });

  test.each(["after", "before"] as const)("%s an item that is not there", async (param) => {
    const refused = pagesOf({ r: 5 })("r", { [param]: "x".repeat(300) });
    await expect(refused).rejects.toMatchObject({ code: "invalid_value", param: `/${param}` });
  });

  test("a response that is not there", async () => {
    expect(await pagesOf({})("r")).toBeUndefined();
  });
});

describe("a conversation is looked through once", () => {
  const FILL = "x".repeat(100);

  test("for all of its pages, which take as long as their own items", async () => {
    const page = pagesOf({ r: 10_000 }, FILL);
    const first = await turnsDuring(() => page("r"));
    const next = await turnsDuring(() => page("r", { after: "a19" }));
    expect(first.turns).toBeGreaterThan(20);
    expect(next.turns).toBeLessThan(6);
    expect(JSON.parse(next.value ?? "").first_id).toBe("a20");
  });

  test("for many callers at once, who share the turns", async () => {
    const page = pagesOf({ r: 10_000 }, FILL);
    const { turns } = await turnsDuring(() => page("r"));
    const all = pagesOf({ r: 10_000 }, FILL);
    const many = await turnsDuring(() => Promise.all(Array.from({ length: 20 }, () => all("r"))));
    expect(many.turns).toBeLessThan(turns + 20 * 6);
    expect(new Set(many.value).size).toBe(1);
  });

  test("but is forgotten for others, beyond a bound", async () => {
    const page = pagesOf({ r: 60_000, s: 60_000 });
    await page("r");
    await page("s");
    expect((await turnsDuring(() => page("s"))).turns).toBeLessThan(6);
    expect((await turnsDuring(() => page("r"))).turns).toBeGreaterThan(20);
  });
});

test("an org that asks for hundreds of pages keeps no other waiting for all of them", async () => {
  const page = pagesOf({ r: 10_000, s: 10 }, "x".repeat(100));
  const crowd = Promise.all(Array.from({ length: 300 }, () => page("r", { after: "a9000" }, "crowd")));
  const { turns, value } = await turnsDuring(() => page("s", {}, "alone"));
  expect(JSON.parse(value ?? "").data).toHaveLength(10);
  expect(turns).toBeLessThan(150);
  expect(new Set(await crowd).size).toBe(1);
});
