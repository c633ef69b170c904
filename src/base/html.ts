/**
 * HTML from templates: everything that is filled in is escaped unless it is HTML itself, so that no value can add markup.
 */

/** Markup that is sent as it is. {@link html} makes it; the constructor is for markup that a library wrote. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escaped for text and for quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);

export type Filling = string | Html | readonly Html[] | undefined;

/** A template tag: strings are escaped, HTML is taken as it is, lists are joined, undefined is nothing. */
export const html = (pieces: TemplateStringsArray, ...fillings: readonly Filling[]): Html =>
  new Html(pieces.map((piece, i) => piece + textOf(fillings[i])).join(""));

function textOf(filling: Filling): string {
  if (filling === undefined) return "";
  if (typeof filling === "string") return escapeHtml(filling);
  return filling instanceof Html ? filling.text : filling.map(({ text }) => text).join("");
}

const NAME = html`<header><a class="name" href="/">Weir</a></header>
`;

export interface PageParts {
  readonly title: string;
  /** Further lines of the head. */
  readonly head?: Html | undefined;
  /** The content of the page; brand and footer are drawn around it. */
  readonly body: Html;
  /** Label and address, at the end. Default: home, console, API reference. */
  readonly links?: readonly (readonly [label: string, address: string])[];
  /** The page's heading is the name already. */
  readonly isNamed?: boolean;
}

const LINKS = [
  ["Home", "/"],
  ["Console", "/console"],
  ["API reference", "/docs"],
] as const;

/** A page that the gateway makes itself, as it is sent. It runs no script, and looks as the console does. */
export const pageText = ({ title, head, body, links = LINKS, isNamed = false }: PageParts): string =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>${head}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/tokens.css"><link rel="stylesheet" href="/assets/pages.css"></head>
<body>${isNamed ? undefined : NAME}${body}
${links.length === 0 ? undefined : html`<footer><ul class="links">${links.map(([label, address]) => html`<li><a href="${address}">${label}</a></li>`)}</ul></footer>`}</body></html>
`.text;
