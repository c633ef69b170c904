/**
 * Image parts that hold something else. An image costs so many tokens at most; a PDF or a text, which is told as what it is
 * wherever it stands, may cost any number, and a hold must cover it.
 */
import { toldBy } from "./first-bytes.ts";
import { isVague, kindOf, rightType, typeOfAddress } from "./types.ts";

/** Characters of base64 for the first bytes, some of them escaped. */
const HEAD = 128;
/** A data URL's comma is within so many characters. */
const LABEL = 256;

/** Whether media in a body, base64 or a data URL, are no image by their label or their first bytes. @param at where the string begins */
export function isNoImage(text: string, at: number): boolean {
  let from = at;
  if (text.startsWith("data:", at)) {
    const comma = text.slice(at, at + LABEL).indexOf(",");
    if (comma < 0 || saysNoImage(text.slice(at + "data:".length, at + comma))) return true;
    from = at + comma + 1;
  }
  const head = text.slice(from, from + HEAD).replaceAll("\\", "");
  const told = toldBy(head);
  return told !== undefined && kindOf(told.type) !== "image";
}

/** Whether a label names something else than an image. */
export function saysNoImage(label: unknown): boolean {
  if (typeof label !== "string") return false;
  const type = rightType(label);
  return !isVague(type) && kindOf(type) !== "image";
}

/** Whether an address shows that a document is there. */
export const isDocumentAddress = (url: unknown): boolean =>
  typeof url === "string" && typeOfAddress(url) === "application/pdf";
