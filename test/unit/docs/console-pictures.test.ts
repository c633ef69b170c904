/** The pictures of docs/console.md are those that `npm run screens -- --docs` makes, and are light to load. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { FOLDER_OF_DOCS, picturesOfDocs } from "../../../scripts/screens/pictures.ts";

const MOST_BYTES = 80_000;
const NAMES = picturesOfDocs()
  .map(({ path }) => basename(path))
  .sort();
const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/console.md"), "utf8");

test("docs/console.md shows each picture that is made for it, and says what is on it", () => {
  const shown = [...PAGE.matchAll(/!\[([^\]]+)\]\(pictures\/console\/([^)]+)\)/g)];
  expect(shown.map(([, , name]) => name).sort()).toEqual(NAMES);
  expect(new Set(shown.map(([, words]) => words)).size).toBe(NAMES.length);
});

test("the folder has these pictures and no other, each of 80 KB at the most", () => {
  expect(readdirSync(FOLDER_OF_DOCS).sort()).toEqual(NAMES);
  for (const name of NAMES)
    expect(statSync(join(FOLDER_OF_DOCS, name)).size, name).toBeLessThanOrEqual(MOST_BYTES);
});
