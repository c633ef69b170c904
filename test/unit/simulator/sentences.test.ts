/** What the simulated model says where no instruction asks for a size. */
import { expect, test } from "vitest";
import { SENTENCE_WORDS, sentences } from "../../../simulator/sentences.ts";

const said = (question: string, variant = 0) => sentences(question, variant).join("");

test("says who answers, and names the question", () => {
  expect(said("Hello")).toBe(
    "You asked about 'Hello'. I am Weir's built-in simulator; a provider's model would answer this question.",
  );
});

test.each([
  "",
  "Hi",
  "two words",
  "now three words",
  "four words are here",
  "these are just five words",
  "and here are many more words than fit",
])("has as many words as tokens, whatever variant: %j", (question) => {
  for (let variant = 0; variant < 20; variant++) {
    const words = sentences(question, variant);
    expect(words).toHaveLength(SENTENCE_WORDS);
    expect(words.join("")).toMatch(/^[A-Z][^.]*\.{1,3}'?\.? (I am|This is) Weir's built-in simulator.*\.$/);
  }
});

test("ten variants of one question differ", () => {
  expect(new Set(Array.from({ length: 10 }, (_, variant) => said("Why?", variant))).size).toBe(10);
});

test("names five words, then says that there are more", () => {
  expect(said("How do I write a long question to you?")).toContain("'How do I write a...'");
});

test.each([
  ["markup", "<b>bold</b> <img/src=x onerror=alert(1)> text", "'text'"],
  ["Markdown", "[click](https://evil.example) **me** `code` now", "'me now'"],
  ["addresses", "write to mira@example.com or https://example.com today", "'write to or today'"],
  ["numbers", "charge 4111 1111 1111 1111 please", "'charge please'"],
  ["control characters and text that turns direction", "a\u0000b \u202etxt fine", "'fine'"],
  ["what is long", `${"x".repeat(25)} short`, "'short'"],
])("leaves out %s", (_, question, named) => {
  expect(said(question)).toContain(`You asked about ${named}.`);
});

test("thanks for a message without a plain word, and reads the beginning of a long one alone", () => {
  expect(said("🌊 42 <p>")).toMatch(/^Thank you for your message\. /);
  expect(said(`${" ".repeat(400)}late`)).toMatch(/^Thank you for your message\. /);
});

test("keeps words of other scripts", () => {
  expect(said("Où est l'eau ? 水とは何ですか？")).toContain("'Où est l'eau 水とは何ですか'");
});
