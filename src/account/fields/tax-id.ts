/**
 * Tax id of a buyer outside India, printed on invoices. Any line of text; in the European Union a VAT number, of which the form is
 * checked, because a wrong one there is of no use to the buyer. No register is asked.
 */
import { asciiUpper, plainText } from "./text-field.ts";

/**
 * Forms of VAT numbers by their prefix, once spaces, dots and hyphens are removed; check digits are not checked. They follow the
 * European Commission's list for VIES, "What is the format of a VAT number?". Greece has the prefix EL, Northern Ireland XI.
 */
const VAT: Readonly<Record<string, RegExp>> = {
  AT: /^U\d{8}$/,
  BE: /^[01]\d{9}$/,
  BG: /^\d{9,10}$/,
  CY: /^\d{8}[A-Z]$/,
  CZ: /^\d{8,10}$/,
  DE: /^\d{9}$/,
  DK: /^\d{8}$/,
  EE: /^\d{9}$/,
  EL: /^\d{9}$/,
  ES: /^[A-Z0-9]\d{7}[A-Z0-9]$/,
  FI: /^\d{8}$/,
  FR: /^[A-Z0-9]{2}\d{9}$/,
  HR: /^\d{11}$/,
  HU: /^\d{8}$/,
  IE: /^(\d{7}[A-W][A-I]?|\d[A-Z+*]\d{5}[A-W])$/,
  IT: /^\d{11}$/,
  LT: /^(\d{9}|\d{12})$/,
  LU: /^\d{8}$/,
  LV: /^\d{11}$/,
  MT: /^\d{8}$/,
  NL: /^\d{9}B\d{2}$/,
  PL: /^\d{10}$/,
  PT: /^\d{9}$/,
  RO: /^\d{2,10}$/,
  SE: /^\d{12}$/,
  SI: /^\d{8}$/,
  SK: /^\d{10}$/,
  XI: /^(\d{9}|\d{12}|GD\d{3}|HA\d{3})$/,
};

const isInUnion = (country: string): boolean => country === "GR" || (country in VAT && country !== "EL");

/** @returns the fault of a tax id, for an error message; undefined if it has none @param country ISO 3166-1 alpha-2, not India */
export function taxIdFault(country: string, taxId: string): string | undefined {
  if (taxId === "" || !isInUnion(country)) return undefined;
  const bare = taxId.replace(/[ .-]/g, "");
  const form = VAT[bare.slice(0, 2)];
  const example = country === "GR" ? "EL" : country;
  if (form === undefined)
    return `a VAT number begins with the two letters of its country, such as ${example}`;
  return form.test(bare.slice(2)) ? undefined : `it has not the form of a VAT number of ${bare.slice(0, 2)}`;
}

/** In upper case after it is read; empty for none. */
export const taxIdField = plainText(40)
  .meta({ examples: ["DE123456789"] })
  .transform(asciiUpper);
