/**
 * What a mail says, as one model, and its two forms: plain text and HTML. Names and texts of people only ever fill places of
 * the model, so they can add neither markup nor lines to a header.
 */
import { type Html, html } from "../../base/html.ts";

export type LetterPart =
  | { readonly kind: "text"; readonly text: string }
  /** Name and value, one pair a line. */
  | { readonly kind: "facts"; readonly facts: readonly (readonly [name: string, value: string])[] }
  /** What somebody else wrote; it may have several lines. */
  | { readonly kind: "quote"; readonly text: string }
  /** The address is shown as well, for readers that show text only. */
  | { readonly kind: "link"; readonly label: string; readonly url: string };

/** A file that goes with a mail. */
export interface Attachment {
  /** Letters, digits, hyphens and dots. */
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array;
}

export interface Letter {
  readonly subject: string;
  readonly parts: readonly LetterPart[];
  readonly attachments?: readonly Attachment[];
  /** Why the reader gets it: the last line. */
  readonly why: string;
}

export const text = (text: string): LetterPart => ({ kind: "text", text });
export const facts = (...facts: readonly (readonly [string, string])[]): LetterPart => ({
  kind: "facts",
  facts,
});
export const quote = (text: string): LetterPart => ({ kind: "quote", text });
export const link = (label: string, url: string): LetterPart => ({ kind: "link", label, url });

const MAX_SUBJECT = 200;
const MAX_QUOTE = 4000;

/** Control characters, and what some readers take for the end of a line. */
const NOT_ONE_LINE = /[\p{Cc}\u2028\u2029]+/gu;

/** One line of at most 200 characters, whatever names it holds. */
export const subjectOf = ({ subject }: Letter): string => {
  const line = subject.replace(NOT_ONE_LINE, " ").trim();
  return line.length <= MAX_SUBJECT ? line : `${line.slice(0, MAX_SUBJECT - 1).toWellFormed()}…`;
};

export const textOf = ({ parts, why }: Letter): string =>
  `${[...parts.map(partAsText), `-- \n${why}`].join("\n\n")}\n`;

function partAsText(part: LetterPart): string {
  if (part.kind === "text") return part.text;
  if (part.kind === "facts") return part.facts.map(([name, value]) => `${name}: ${value}`).join("\n");
  if (part.kind === "link") return `${part.label}:\n${part.url}`;
  return linesOf(part.text)
    .map((line) => `> ${line}`)
    .join("\n");
}

/** Without images, scripts and addresses of style sheets: it reads the same with all of that blocked. */
export const htmlOf = (letter: Letter): string =>
  html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${subjectOf(letter)}</title></head>
<body style="margin:0 auto;padding:24px;max-width:36em;font:16px/1.5 sans-serif">
${letter.parts.map(partAsHtml)}<hr>
<p><small>${letter.why}</small></p>
</body>
</html>
`.text;

function partAsHtml(part: LetterPart): Html {
  if (part.kind === "text")
    return html`<p>${part.text}</p>
`;
  if (part.kind === "link")
    return html`<p><a href="${part.url}">${part.label}</a><br><small>${part.url}</small></p>
`;
  if (part.kind === "quote")
    return html`<blockquote>${linesOf(part.text).map((line) => html`${line}<br>`)}</blockquote>
`;
  const rows = part.facts.map(
    ([name, value]) => html`<tr><th align="left" scope="row">${name}&nbsp;</th><td>${value}</td></tr>`,
  );
  return html`<table>${rows}</table>
`;
}

const linesOf = (text: string): string[] => {
  const shown = text.length <= MAX_QUOTE ? text : `${text.slice(0, MAX_QUOTE).toWellFormed()}…`;
  return shown.split(/\r\n|[\n\r\u2028\u2029]/);
};
