/** What is wrong with a page that is shown: text that is cut off, headings out of order, and what shuts people out. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

/**
 * Texts that are wider or higher than the box that shows them, and elements that reach beyond the window, unless what they are in
 * scrolls: each as "tag.class: text". What says by an ellipsis that there is more is left out.
 */
export async function cutOff(page: Page): Promise<readonly string[]> {
  return await page.evaluate<string[]>(CUT_OFF);
}

const CUT_OFF = `(() => {
  const found = [];
  const name = (each) => each.tagName.toLowerCase() + "." + each.className + ": " + each.textContent.trim().slice(0, 60);
  const scrolls = (each) => each !== null && each !== document.documentElement &&
    (/(auto|scroll)/.test(getComputedStyle(each).overflowX) || scrolls(each.parentElement));
  if (document.documentElement.scrollWidth > innerWidth + 1) found.push("page: wider than the window");
  for (const each of document.querySelectorAll("body *")) {
    const box = each.getBoundingClientRect();
    const style = getComputedStyle(each);
    if (box.width < 2 || box.height < 2 || style.visibility === "hidden" || each.closest("svg, .only-read")) continue;
    const isBeyond = box.right > innerWidth + 1 || box.left < -1;
    if (isBeyond && !scrolls(each)) found.push("beyond " + name(each));
    const hides = style.overflowX === "hidden" || style.overflowX === "clip" || style.overflowY === "hidden";
    const isCut = each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1;
    if (hides && isCut && style.textOverflow !== "ellipsis") found.push("cut " + name(each));
    if (each.tagName === "BUTTON" && each.scrollWidth > each.clientWidth + 1) found.push("cut " + name(each));
  }
  return found;
})()`;

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds that is serious or critical, by WCAG 2.2 A and AA: each as "rule: element". */
export async function accessFaults(page: Page): Promise<readonly string[]> {
  if (await page.evaluate<boolean>("typeof window.axe === 'undefined'"))
    await page.evaluate(`${AXE}; undefined`);
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, { runOnly: ${JSON.stringify(tags)} }).then(({ violations }) => violations)`,
  );
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = "" }) => `${id}: ${html} ${failureSummary}`),
    );
}

/** A page has one first heading, with words in it, and no level is left out on the way down. */
export async function headingFaults(page: Page): Promise<readonly string[]> {
  const headings = await page.evaluate<[number, string][]>(HEADINGS);
  const levels = headings.map(([level]) => level);
  const skipped = levels.some((level, at) => at > 0 && level > (levels[at - 1] ?? level) + 1);
  return [
    ...(levels.filter((level) => level === 1).length === 1 ? [] : [`headings of the first level: ${levels}`]),
    ...(skipped ? [`headings skip a level: ${levels}`] : []),
    ...headings.filter(([, text]) => text === "").map(([level]) => `an h${level} has no words`),
  ];
}

const HEADINGS = `Array.from(document.querySelectorAll("h1, h2, h3, h4, h5, h6"), (each) => [
  Number(each.tagName[1]), each.textContent.trim()])`;
