/** Pictures of docs/pictures are what their texts say. That these are true is a rule: test/unit/tidy/pictures.ts. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { drawn, fileOf, pictureNames, textOf } from "../../../scripts/pictures.ts";

test("there are pictures of the wings and of a call", () => {
  expect(pictureNames()).toEqual(["call", "wings"]);
});

test.each(pictureNames())("the picture of %s is drawn from its text as it is", (name) => {
  expect(drawn(textOf(name)) === readFileSync(fileOf(name), "utf8"), "run `npm run pictures`").toBe(true);
});

/** On a page 800 pixels wide, which shows a wider picture smaller. */
const PAGE_PX = 800;
const LEAST_PX = 12;
/** A point is 4/3 of a pixel. */
const PX = 4 / 3;

test.each(pictureNames())(
  "the picture of %s loads nothing, is white below, and has words that can be read",
  (name) => {
    const svg = readFileSync(fileOf(name), "utf8");
    expect(svg.match(/https?:[^"]*/g)).toEqual([
      "http://www.w3.org/2000/svg",
      "http://www.w3.org/1999/xlink",
    ]);
    expect(svg).not.toMatch(/<(?:image|use|script|foreignObject)\b|@import|url\(/);
    expect(svg).toContain('<rect width="100%" height="100%" fill="white"/>');
    const widthPx = Number(/<svg width="(\d+)pt"/.exec(svg)?.[1]) * PX;
    const sizes = [...svg.matchAll(/font-size="([\d.]+)"/g)].map(([, points]) => Number(points) * PX);
    expect(sizes.length).toBeGreaterThan(0);
    expect(Math.min(...sizes) * Math.min(1, PAGE_PX / widthPx)).toBeGreaterThanOrEqual(LEAST_PX);
  },
);
