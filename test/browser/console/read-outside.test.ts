/**
 * What people read outside the console, in a real browser: each mail, document and page of the gateway's own, narrow and light, wide and dark.
 * Nothing is cut off or broken, anybody can read it, it says no word that only programs have, and its links lead to pages that there are.
 */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SAMPLE_DOCUMENTS, samplePages } from "../../../scripts/screens/documents.ts";
import { sampleLetters } from "../../../scripts/screens/letters.ts";
import { type OutsidePage, openOutside } from "../../../scripts/screens/outside.ts";
import { htmlOf, type LetterPart, subjectOf, textOf } from "../../../src/account/mail/letter.ts";
import { pdfOf } from "../../../src/billing/invoices/pages/pdf.ts";
import { CHROMIUM, launch, NO_BROWSER } from "../../support/console/browser.fixtures.ts";
import { accessFaults, cutOff, headingFaults } from "../../support/console/faults.fixtures.ts";
import { pageOf } from "../../support/console/page-paths.ts";
import { wordFaults } from "../../support/console/plain-words.ts";
import { LIMIT_MS } from "../../support/wait.ts";
import { faultsOf, isPopplerThere, wordsOf } from "../billing/pdf.fixtures.ts";

const LOOKS: readonly BrowserContextOptions[] = [
  { viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
];

let browser: Browser | undefined;
let pages: readonly OutsidePage[] = [];
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  const opened = await launch();
  browser = opened;
  pages = await Promise.all(LOOKS.map((look) => openOutside(opened, look)));
});
afterAll(() => browser?.close());

/** At each width and theme. @returns what is wrong, and what the reader sees at the first */
async function lookAt(html: string): Promise<{ readonly faults: readonly string[]; readonly text: string }> {
  const faults: string[] = [];
  let text = "";
  for (const { page, show } of pages) {
    page.setDefaultTimeout(LIMIT_MS);
    await show(html);
    // biome-ignore lint/performance/useDomNodeTextContent: lines are broken where the reader sees them broken
    text ||= await page.locator("body").innerText();
    const found = [
      ...(await cutOff(page)),
      ...(await brokenWords(page)),
      ...(await headingFaults(page)),
      ...(await accessFaults(page)),
    ];
    faults.push(...found.map((fault) => `${page.viewportSize()?.width}: ${fault}`));
  }
  return { faults, text };
}

/** Amounts, numbers and words of up to 24 characters that stand on more than one line. */
const brokenWords = (page: Page): Promise<readonly string[]> => page.evaluate<string[]>(BROKEN);
const BROKEN = `(() => {
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (node.parentElement.closest("script, style, svg, .only-read, thead")) continue;
    for (const { 0: word, index } of node.data.matchAll(/[^\\s\\-\\/\\u200b]{2,24}/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top)));
      const isOfLong = (node.data.slice(0, index).match(/\\S*$/)[0] + node.data.slice(index).match(/^\\S*/)[0]).length > 28;
      if (lines.size > 1 && !isOfLong) found.push("broken " + word);
    }
  }
  return found;
})()`;

const linksOf = (html: string): string[] =>
  Array.from(html.matchAll(/ href="([^"]*)"/g), ([, to = ""]) => to.replaceAll("&amp;", "&"));
const withoutSpace = (text: string): string => text.replace(/\s+/g, "");

/** Each that both forms of a mail say. */
function wordsOfPart(part: LetterPart): readonly string[] {
  if (part.kind === "facts") return part.facts.flat();
  return part.kind === "link" ? [part.label, part.url] : [part.text];
}

const letters = await sampleLetters();

describe("the mail", () => {
  test.each(letters.map((sample) => [sample.name, sample] as const))("%s", async (_name, sample) => {
    const { letter, template } = sample;
    const [html, plain] = [htmlOf(letter), textOf(letter)];
    expect([...wordFaults(subjectOf(letter)), ...wordFaults(plain)]).toEqual([]);
    expect(letter.why).toMatch(/^You get this mail because /);
    // A last one leaves nothing to do, and an invited person is no member yet.
    const leads = letter.parts.flatMap((part) => (part.kind === "link" ? [new URL(part.url).pathname] : []));
    const expected = { erasure_begun: [], invitation: [expect.stringMatching(/^\/auth\/invitations\/ivt_/)] };
    const own = template in expected ? expected[template as keyof typeof expected] : undefined;
    if (own !== undefined) expect(leads).toEqual(own);
    else if (sample.name !== "org-closed-by-erasure") expect(leads.map(pageOf)).toEqual([expect.any(String)]);
    expect(linksOf(html)).toHaveLength(leads.length);
    if (browser === undefined) return;
    const { faults, text } = await lookAt(html);
    expect(faults).toEqual([]);
    expect(wordFaults(text)).toEqual([]);
    for (const part of [...letter.parts.flatMap(wordsOfPart), letter.why])
      for (const form of [text, plain.replace(/^> /gm, "")])
        expect(withoutSpace(form)).toContain(withoutSpace(part));
  });

  test("a copy claims nothing of whose address it went to", () => {
    for (const name of ["invoice-copy", "credit-note-copy"]) {
      const { letter } = letters.find((each) => each.name === name) ?? expect.unreachable();
      expect(textOf(letter)).toContain("had this document sent to this address");
      expect(textOf(letter)).not.toMatch(/because you|\byour\b|billing address/);
    }
  });
});

describe("the page", () => {
  test.each(samplePages().map((sample) => [sample.name, sample] as const))("%s", async (_name, sample) => {
    const { html, isForPrograms = false } = sample;
    for (const link of linksOf(html).filter((to) => to.startsWith("/console/")))
      expect(pageOf(link), link).toBeDefined();
    if (browser === undefined) return;
    const { faults, text } = await lookAt(html);
    expect(faults).toEqual([]);
    if (!isForPrograms) expect(wordFaults(text)).toEqual([]);
  });

  test.each(SAMPLE_DOCUMENTS)(
    "%s as PDF has no word that is cut or over another one",
    async (_name, model) => {
      if (!isPopplerThere) return;
      expect(faultsOf(await wordsOf(Buffer.from(await pdfOf(model))))).toEqual([]);
    },
  );
});

test.skipIf(CHROMIUM !== undefined)(`mails and pages are drawn (skipped: ${NO_BROWSER})`, () => {});
