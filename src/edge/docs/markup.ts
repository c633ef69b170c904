/** Pieces of markup of the reference. All text is escaped. */
import { escapeHtml } from "../../base/html.ts";

export const escaped = escapeHtml;

/** Text with `code`. */
export const inline = (text: string): string => escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");

/** A long path or name may be broken after a separator. */
export const breakable = (text: string): string => escaped(text).replace(/[/_]/g, "$&<wbr>");

export const badge = (method: string): string =>
  `<span class="method ${method.toLowerCase()}">${method}</span>`;
