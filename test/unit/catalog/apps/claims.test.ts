/** Slugs made of names, fields of an app, and which name of a call counts for which app. */
import { expect, test } from "vitest";
import { type AppRow, appNameField, appUrlField, slugOf } from "../../../../src/catalog/apps/app.ts";
import { claimsOf } from "../../../../src/catalog/apps/claims.ts";

test.each([
  ["Acme Chat", "acme-chat"],
  ["  Crème  brûlée! ", "creme-brulee"],
  ["--a--", "a"],
  ["チャット", ""],
  [`${"x".repeat(62)} y`, "x".repeat(62)],
  ["A".repeat(100), "a".repeat(63)],
])("the slug of %j is %j", (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

test("an address is http or https, short, and holds no password", () => {
  const good = ["", "https://app.example.com", "http://localhost:3000/a?b=c", "https://bücher.example/"];
  const bad = [
    "app.example.com",
    "javascript:alert(1)",
    "ftp://a.example",
    "https://",
    "https://a b.example",
    "https://user:pass@a.example",
    "https://user@a.example",
    "https://a.example/\n",
    "//a.example",
    `https://a.example/${"x".repeat(300)}`,
  ];
  expect(good.filter((url) => !appUrlField.safeParse(url).success)).toEqual([]);
  expect(bad.filter((url) => appUrlField.safeParse(url).success)).toEqual([]);
});

test("a name is one line that shows as it is", () => {
  const bad = ["", "  ", "a\nb", "a\u202eb", "a\u0000", "\ud800", "x".repeat(101)];
  expect(bad.filter((name) => appNameField.safeParse(name).success)).toEqual([]);
  expect(appNameField.parse("  Acme 👩‍💻 ")).toBe("Acme 👩‍💻");
});

let age = 0;
const app = (slug: string, name: string, url = "", isPublic = true): AppRow => ({
  slug,
  name,
  url,
  isPublic,
  orgId: "org",
  category: "other",
  createdAtMs: ++age,
});
const claims = (...apps: AppRow[]) => Object.fromEntries(claimsOf(apps));

test("an app counts calls with its slug, its name, or the host of its address", () => {
  expect(claims(app("acme", "Acme Chat", "https://Chat.Acme.example:443/x"))).toEqual({
    acme: "acme",
    "Acme Chat": "acme",
    "chat.acme.example": "acme",
  });
  expect(claims(app("dev", "Dev", "http://localhost:3000"))).toHaveProperty(["localhost:3000"], "dev");
});

test("no name counts twice: the slug's app goes before the name's, that before the host's, the older before the younger", () => {
  const [first, second] = [app("one", "Same", "https://a.example"), app("two", "Same", "https://a.example")];
  const byName = app("three", "two");
  const byHost = app("four", "a.example", "", false);
  expect(claims(byName, second, first, byHost)).toEqual({
    one: "one",
    two: "two",
    three: "three",
    four: "four",
    Same: "one",
    "a.example": "four",
  });
});
