/**
 * Image parts that hold something else. An image costs so many tokens at most; a PDF or a text, which is told as what it is
 * wherever it stands, may cost any number, and a hold must cover it.
 */
import { lettersOf, toldBy } from "./first-bytes.ts";
import { isVague, kindOf, rightType, typeOfAddress } from "./types.ts";

/** Characters of base64 for the first bytes, some of them escaped. */
const HEAD = 128;
/** Letters that tell every known format. */
const ENOUGH = 32;
/** A data URL's comma is within so many characters. */
const LABEL = 256;
/** Clients put a data URL where only its data belong, and so into another one. */
const MAX_URLS = 2;

/**
 * Whether media in a body, base64 or a data URL, are no image by their label or their first bytes, or hide these.
 * @param text JSON @param at where the string begins
 */
export function isNoImage(text: string, at: number): boolean {
  let from = at;
  for (let urls = 0; urls < MAX_URLS && text.startsWith("data:", from); urls++) {
    from += "data:".length;
    const comma = text.slice(from, from + LABEL).indexOf(",");
    const label = text.slice(from, from + comma);
    if (comma < 0 || !IS_BASE64.test(label) || saysNoImage(label)) return true;
    from += comma + 1;
  }
  const letters = lettersOf(text.slice(from, from + HEAD));
  if (letters.length < ENOUGH) return true;
  const told = toldBy(letters);
  return told !== undefined && kindOf(told.type) !== "image";
}

/** Other data URLs are percent-encoded text. */
const IS_BASE64 = /;\s*base64\s*(?:;|$)/i;

/** Whether a label names something else than an image. */
export function saysNoImage(label: unknown): boolean {
  if (typeof label !== "string") return false;
  const type = rightType(label);
  return !isVague(type) && kindOf(type) !== "image";
}

/** Whether an address, or a file's id that may be one, shows that something else than an image is there. */
export function isNoImageAddress(url: unknown): boolean {
  const type = typeof url === "string" ? typeOfAddress(url) : undefined;
  return type !== undefined && kindOf(type) !== "image";
}
