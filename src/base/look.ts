/**
 * Colours and typefaces for documents that cannot load the style sheets of the console: mails, invoices, saved agreements. A test compares
 * them with console/styles/tokens.css.
 */

interface Colour {
  readonly light: string;
  readonly dark: string;
}

/** By the name of the token. */
export const LOOK = {
  ground: { light: "#f7f8f9", dark: "#14181b" },
  surface: { light: "#fff", dark: "#1b2024" },
  sunk: { light: "#eff1f3", dark: "#232a2f" },
  line: { light: "#dde1e5", dark: "#333c43" },
  text: { light: "#1b2126", dark: "#e6eaed" },
  "text-quiet": { light: "#57626c", dark: "#a2adb6" },
  accent: { light: "#0b6478", dark: "#5fc4d8" },
  "accent-text": { light: "#fff", dark: "#0a1d22" },
} as const satisfies Readonly<Record<string, Colour>>;

export type LookName = keyof typeof LOOK;

/** For text in Latin, Indian and other scripts, by what the reader's machine has. */
export const FACE = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

/** The colours as custom properties, light or dark as the reader's system is, and light on paper. */
export const LOOK_CSS = `:root{color-scheme:light dark;${Object.entries(LOOK)
  .map(([name, { light, dark }]) => `--${name}:light-dark(${light},${dark})`)
  .join(";")}}@media print{:root{color-scheme:light}}`;
