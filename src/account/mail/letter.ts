/**
 * What a mail says, as one model, and its two forms: plain text and HTML. Names and texts of people only ever fill places of
 * the model, so they can add neither markup nor lines to a header.
 */
import { Html, html } from "../../base/html.ts";
import { FACE, LOOK, type LookName } from "../../base/look.ts";

export type LetterPart =
  | { readonly kind: "text"; readonly text: string }
  /** Name and value, one pair a line. */
  | { readonly kind: "facts"; readonly facts: readonly (readonly [name: string, value: string])[] }
  /** What somebody else wrote; it may have several lines. */
  | { readonly kind: "quote"; readonly text: string }
  /** What the reader does next: a letter has one. The address is shown as well, for readers that show text only. */
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

/** A style, written into the element: many readers of mails take no style sheet. */
const css = (rules: string): Html => new Html(` style="${rules}"`);
const light = (name: LookName): string => LOOK[name].light;
const SMALL = "font-size:13px;line-height:1.5";

/** Colours for programs that show mails in the dark. `!important`, because the light colours are written into the elements themselves. */
const DARK = new Html(
  `<style>:root{color-scheme:light dark;supported-color-schemes:light dark}@media (prefers-color-scheme:dark){${darkRules()}}</style>`,
);

function darkRules(): string {
  const dark = (name: LookName): string => LOOK[name].dark;
  return [
    `.ground{background:${dark("ground")}!important}`,
    `.surface{background:${dark("surface")}!important}`,
    `.text{color:${dark("text")}!important}`,
    `.quiet{color:${dark("text-quiet")}!important}`,
    `.line{border-color:${dark("line")}!important}`,
    `.act{background:${dark("accent")}!important;color:${dark("accent-text")}!important}`,
  ].join("");
}

/** Without images, scripts and addresses of style sheets: it reads the same with all of that blocked. */
export const htmlOf = (letter: Letter): string =>
  html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><title>${subjectOf(letter)}</title>${DARK}</head>
<body class="ground"${css(`margin:0;padding:0;background:${light("ground")}`)}>
<div class="ground text"${css(`padding:24px 12px;background:${light("ground")};color:${light("text")};font:16px/1.5 ${FACE.replaceAll('"', "'")}`)}>
<div${css("max-width:560px;margin:0 auto")}>
<p${css("margin:0 0 12px;padding:0 4px;font-weight:700")}>Weir</p>
<main class="surface"${css(`display:block;padding:24px 20px 20px;border-radius:6px;background:${light("surface")};overflow-wrap:break-word`)}>
<h1${css("margin:0 0 16px;font-size:20px;line-height:1.3;overflow-wrap:anywhere")}>${subjectOf(letter)}</h1>
${letter.parts.map(partAsHtml)}</main>
<p class="quiet"${css(`margin:16px 0 0;padding:0 4px;${SMALL};color:${light("text-quiet")};overflow-wrap:anywhere`)}>${letter.why}</p>
</div></div>
</body>
</html>
`.text;

function partAsHtml(part: LetterPart): Html {
  if (part.kind === "text")
    return html`<p${css("margin:0 0 16px")}>${part.text}</p>
`;
  if (part.kind === "link") return linkAsHtml(part.label, part.url);
  if (part.kind === "quote")
    return html`<blockquote class="line"${css(`margin:0 0 16px;padding:0 0 0 12px;border-left:3px solid ${light("line")};overflow-wrap:anywhere`)}>${linesOf(part.text).map((line) => html`${line}<br>`)}</blockquote>
`;
  return html`<table role="presentation"${css("width:100%;margin:0 0 16px;border-collapse:collapse")}>${part.facts.map(factAsHtml)}</table>
`;
}

const linkAsHtml = (label: string, url: string): Html =>
  html`<p${css("margin:20px 0 8px")}><a class="act" href="${url}"${css(`display:inline-block;padding:11px 18px;border-radius:6px;background:${light("accent")};color:${light("accent-text")};font-weight:600;text-decoration:none`)}>${label}</a></p>
<p class="quiet"${css(`margin:0 0 16px;${SMALL};color:${light("text-quiet")};overflow-wrap:anywhere`)}>${url}</p>
`;

/** Longer words may break: an address, or what somebody wrote. */
const MOST_UNBROKEN = 28;

/** An amount or an id stays on one line. */
function factAsHtml([name, value]: readonly [string, string]): Html {
  const cell = "padding:7px 0;border-bottom:1px solid";
  const wraps =
    value.length <= MOST_UNBROKEN && !value.includes(" ") ? "white-space:nowrap" : "overflow-wrap:anywhere";
  return html`<tr><td class="quiet line"${css(`${cell} ${light("line")};padding-right:16px;width:36%;text-align:left;vertical-align:top;color:${light("text-quiet")}`)}>${name}</td><td class="line"${css(`${cell} ${light("line")};vertical-align:top;${wraps}`)}>${value}</td></tr>
`;
}

const linesOf = (text: string): string[] => {
  const shown = text.length <= MAX_QUOTE ? text : `${text.slice(0, MAX_QUOTE).toWellFormed()}…`;
  return shown.split(/\r\n|[\n\r\u2028\u2029]/);
};
