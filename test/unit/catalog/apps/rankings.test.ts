/** Boards and what is shown of them: days, categories, `min_orgs`, and only what is public at the moment of the answer. */
import { expect, test } from "vitest";
import type { AppRow } from "../../../../src/catalog/apps/app.ts";
import { badgeOf, pageOf } from "../../../../src/catalog/apps/app-page.ts";
import { type BoardFigures, readBoard } from "../../../../src/catalog/apps/board.ts";
import { DrawnBadges } from "../../../../src/catalog/apps/drawn-badges.ts";
import { Rankings } from "../../../../src/catalog/apps/rankings.ts";

const row = (slug: string, orgId: string, change: Partial<AppRow> = {}): AppRow => ({
  slug,
  orgId,
  name: slug.toUpperCase(),
  url: "",
  category: "other",
  isPublic: true,
  createdAtMs: 1,
  ...change,
});

interface NamedUse {
  orgId: string;
  name: string;
  model: string;
  daysAgo: number;
  tokens: number;
}

/** Figures as analytics would sum them, of uses that count for one request each. */
const figuresOf = (uses: readonly NamedUse[]) => {
  const asked: number[] = [];
  const figures: BoardFigures = {
    async models() {
      const last = new Map<string, NamedUse>();
      for (const use of uses) {
        const key = `${use.model} ${use.orgId}`;
        if (use.daysAgo < (last.get(key)?.daysAgo ?? 99)) last.set(key, use);
      }
      return {
        days: uses.map((use) => ({ ...use, requests: 1 })),
        orgs: [...last.values()].map(({ model, daysAgo }) => ({ model, daysAgo, orgs: 1 })),
      };
    },
    async names(names) {
      asked.push(names.length);
      const mine = uses.filter((u) => names.some(({ orgId, name }) => orgId === u.orgId && name === u.name));
      return {
        days: mine.map((use) => ({ ...use, requests: 1 })),
        models: mine.map((use) => ({ ...use, requests7d: 1, tokens7d: use.tokens })),
      };
    },
  };
  return { figures, asked };
};

const tablesOf = (rows: readonly AppRow[]) => ({
  of: (orgId: string) => rows.filter((app) => app.orgId === orgId),
  published: (after: string, limit: number) =>
    rows
      .filter(({ isPublic, slug }) => isPublic && slug > after)
      .sort((a, b) => (a.slug < b.slug ? -1 : 1))
      .slice(0, limit),
});

const use = (orgId: string, name: string, daysAgo: number, tokens: number, model = "v/m"): NamedUse => ({
  orgId,
  name,
  model,
  daysAgo,
  tokens,
});

async function ranked(uses: readonly NamedUse[], rows: AppRow[], minOrgs = 1) {
  const { figures, asked } = figuresOf(uses);
  const board = await readBoard({ figures, apps: tablesOf(rows), withApps: minOrgs <= 1 });
  const rankings = new Rankings({
    minOrgs,
    hasModel: (id) => id !== "v/gone",
    shown: (slug) => rows.find((app) => app.slug === slug && app.isPublic),
  });
  const reading = { value: board, readAtMs: 0, isCurrent: true };
  const read = (days: number, category?: string) =>
    JSON.parse(rankings.body(reading, days, category, 0).text);
  return { read, rankings, board, asked };
}

test("figures are those of the days asked for", async () => {
  const uses = [
    use("a", "one", 0, 10),
    use("a", "ONE", 6, 5),
    use("a", "one", 7, 100, "v/n"),
    use("a", "one", 89, 1),
  ];
  const { read } = await ranked(uses, [row("one", "a")]);
  const first = (days: number) => read(days).apps[0];
  expect(first(1)).toEqual({ id: "one", requests: 1, tokens: 10, models: 1 });
  expect(first(7)).toEqual({ id: "one", requests: 2, tokens: 15, models: 1 });
  expect(first(8)).toEqual({ id: "one", requests: 3, tokens: 115, models: 2 });
  expect(first(90)).toEqual({ id: "one", requests: 4, tokens: 116, models: 2 });
  expect(read(8).models).toEqual([
    { id: "v/n", requests: 1, tokens: 100, apps: 1 },
    { id: "v/m", requests: 2, tokens: 15, apps: 1 },
  ]);
});

test("an app's calls are its own org's, whatever names others send", async () => {
  const rows = [row("one", "a", { name: "Chat" }), row("two", "b", { name: "Chat" })];
  const uses = [
    use("a", "Chat", 0, 1),
    use("b", "Chat", 0, 10),
    use("c", "Chat", 0, 99),
    use("b", "one", 0, 99),
  ];
  const { read } = await ranked(uses, rows);
  expect(read(7).apps.map(({ id, tokens }: { id: string; tokens: number }) => [id, tokens])).toEqual([
    ["two", 10],
    ["one", 1],
  ]);
});

test("a category restricts apps and leaves models as they are", async () => {
  const rows = [row("one", "a", { category: "coding" }), row("two", "b")];
  const { read } = await ranked([use("a", "one", 0, 1), use("b", "two", 0, 1)], rows);
  expect(read(7, "coding").apps).toHaveLength(1);
  expect(read(7, "games").apps).toEqual([]);
  expect(read(7, "coding").models).toEqual(read(7).models);
  expect(read(7).models[0].apps).toBe(2);
});

test("a model that fewer orgs than min_orgs used in these days is not shown, and then no app is", async () => {
  const uses = [
    use("a", "one", 0, 5),
    use("b", "", 0, 5),
    use("c", "", 3, 5),
    use("a", "one", 0, 500, "v/own"),
    use("a", "", 2, 500, "v/own"),
  ];
  const { read, rankings, board, asked } = await ranked(uses, [row("one", "a")], 3);
  expect(read(3)).toMatchObject({ apps: [], models: [] });
  expect(read(4)).toMatchObject({ apps: [], models: [{ id: "v/m", requests: 3, tokens: 15, apps: 0 }] });
  expect(rankings.usesOf(board, "v/own")).toEqual([]);
  expect(asked).toEqual([]);
});

test("models that the catalog no longer has are not shown", async () => {
  const { read } = await ranked([use("a", "x", 0, 5, "v/gone"), use("a", "x", 0, 1)], []);
  expect(read(7).models.map(({ id }: { id: string }) => id)).toEqual(["v/m"]);
});

test("an app that was hidden, or whose slug became another org's, is gone at once", async () => {
  const rows = [row("one", "a"), row("two", "b")];
  const { read, rankings, board } = await ranked([use("a", "one", 0, 1), use("b", "two", 0, 2)], rows);
  expect(read(7).apps).toHaveLength(2);
  expect(rankings.usesOf(board, "v/m")).toEqual([
    { app_id: "two", requests_7d: 1, tokens_7d: 2 },
    { app_id: "one", requests_7d: 1, tokens_7d: 1 },
  ]);
  rows[0] = row("one", "a", { isPublic: false });
  rows[1] = row("two", "z");
  rankings.changed("one");
  expect(read(7).apps.map(({ id }: { id: string }) => id)).toEqual(["two"]);
  rankings.changed();
  expect(read(7)).toMatchObject({ apps: [], models: [{ apps: 0 }] });
  expect(rankings.usesOf(board, "v/m")).toEqual([]);
});

test("2,000 public apps are read a hundred at a time, no more of them, and the 100 with most tokens are shown", async () => {
  const rows = Array.from({ length: 2050 }, (_, at) =>
    row(`app-${String(at).padStart(4, "0")}`, `org-${at}`),
  );
  const uses = rows.map(({ orgId, slug }, at) => use(orgId, slug, 0, at + 1));
  const { read, asked } = await ranked(uses, rows);
  expect(asked).toHaveLength(20);
  expect(Math.max(...asked)).toBeLessThanOrEqual(300);
  const { apps, models } = read(7);
  expect(apps).toHaveLength(100);
  expect([apps[0].tokens, apps[99].tokens, models[0].apps]).toEqual([2000, 1901, 2000]);
});

test("an app's page sums its 30 days, and shows each", () => {
  const readAtMs = Date.parse("2026-03-01T00:30:00Z");
  const day = (text: string, model: string, tokens: number) => ({
    day: text,
    model,
    tokens,
    requests: 1,
  });
  const value = [day("2026-03-01", "v/a", 5), day("2026-01-31", "v/b", 7), day("2026-01-30", "v/b", 1000)];
  const page = pageOf(row("one", "a"), { value, readAtMs, isCurrent: true }, 0);
  expect(page).toMatchObject({ slug: "one", name: "ONE", tokens_30d: 12, requests_30d: 2, analytics: true });
  expect(page.trend).toHaveLength(30);
  expect(page.trend[0]).toEqual({ day: "2026-01-31", requests: 1, tokens: 7 });
  expect(page.trend[29]).toEqual({ day: "2026-03-01", requests: 1, tokens: 5 });
});

test("a page without a reading has no figures and says so", () => {
  const page = pageOf(row("one", "a"), undefined, 0);
  expect(page).toMatchObject({ tokens_30d: 0, models: [], trend: [], analytics: false });
  expect(badgeOf(page)).toMatchObject({ label: "ONE", message: "no figures" });
});

test("a badge names the app and its tokens", () => {
  const readAtMs = Date.parse("2026-03-01T00:30:00Z");
  const value = [{ day: "2026-03-01", model: "v/a", tokens: 1_234_567, requests: 1 }];
  const named = (name: string) =>
    badgeOf(pageOf(row("one", "a", { name }), { value, readAtMs, isCurrent: true }, 0));
  expect(named("Acme")).toEqual({ label: "Acme", message: "1.2M tokens / 30 days", color: "blue" });
  expect(named("👩‍💻".repeat(33)).label).toBe(`${[..."👩‍💻".repeat(33)].slice(0, 39).join("")}…`);
});

test("a badge is drawn once for what it says, and again after a failure", async () => {
  const drawn: string[] = [];
  let fails = true;
  const badges = new DrawnBadges(async ({ message }) => {
    drawn.push(message);
    if (fails) throw new Error("no thread");
    return `<svg>${message}`;
  }, 2);
  const badge = (message: string) => ({ label: "A", message, color: "blue" });
  await expect(badges.get("a", badge("1"))).rejects.toThrow("no thread");
  fails = false;
  const both = [badges.get("a", badge("1")), badges.get("a", badge("1"))];
  expect(await Promise.all(both)).toEqual(["<svg>1", "<svg>1"]);
  await badges.get("a", badge("2"));
  await badges.get("b", badge("3"));
  await badges.get("c", badge("4"));
  await badges.get("a", badge("2"));
  expect(drawn).toEqual(["1", "1", "2", "3", "4", "2"]);
});
