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
