/**
 * Postal codes: their form in countries where it is simple and fixed, and how they are written there. Elsewhere any short
 * text is one, because forms change and a wrong refusal stops a payment.
 */
import { asciiUpper } from "./text-field.ts";

interface Form {
  /** Matches the code in upper case, without spaces and hyphens. */
  readonly pattern: RegExp;
  /** How many characters stand before the separator, from the end where negative; absent: written in one piece. */
  readonly split?: number;
  readonly separator?: " " | "-";
  readonly example: string;
}

const digits = (count: number, example: string): Form => ({
  pattern: new RegExp(`^[0-9]{${count}}$`),
  example,
});

/** As the national posts write them; the Universal Postal Union publishes a sheet of each ("Postal addressing systems"). */
const FORMS: Readonly<Record<string, Form>> = {
  AT: { pattern: /^[1-9][0-9]{3}$/, example: "1010" },
  AU: digits(4, "2000"),
  BE: { pattern: /^[1-9][0-9]{3}$/, example: "1000" },
  BR: { pattern: /^[0-9]{8}$/, split: 5, separator: "-", example: "01310-100" },
  // Canada Post: no D, F, I, O, Q, U; no W and Z at the beginning.
  CA: {
    pattern: /^[ABCEGHJ-NPRSTVXY][0-9][ABCEGHJ-NPRSTV-Z][0-9][ABCEGHJ-NPRSTV-Z][0-9]$/,
    split: 3,
    separator: " ",
    example: "K1A 0B1",
  },
  CH: { pattern: /^[1-9][0-9]{3}$/, example: "8001" },
  DE: digits(5, "10115"),
  DK: digits(4, "1050"),
  ES: digits(5, "28013"),
  FI: digits(5, "00100"),
  FR: digits(5, "75001"),
  GB: {
    pattern: /^(?:GIR0AA|[A-Z]{1,2}[0-9][A-Z0-9]?[0-9][A-Z]{2})$/,
    split: -3,
    separator: " ",
    example: "SW1A 1AA",
  },
  IN: { pattern: /^[1-9][0-9]{5}$/, example: "560001" },
  IT: digits(5, "00184"),
  JP: { pattern: /^[0-9]{7}$/, split: 3, separator: "-", example: "100-0001" },
  KR: digits(5, "03051"),
  NL: { pattern: /^[1-9][0-9]{3}[A-Z]{2}$/, split: 4, separator: " ", example: "1012 AB" },
  NO: digits(4, "0150"),
  NZ: digits(4, "6011"),
  PL: { pattern: /^[0-9]{5}$/, split: 2, separator: "-", example: "00-001" },
  PT: { pattern: /^[1-9][0-9]{6}$/, split: 4, separator: "-", example: "1100-148" },
  SE: { pattern: /^[1-9][0-9]{4}$/, split: 3, separator: " ", example: "111 29" },
  SG: digits(6, "018956"),
  // ZIP, or ZIP+4.
  US: { pattern: /^[0-9]{5}(?:[0-9]{4})?$/, split: 5, separator: "-", example: "94105" },
};

const MAX_CHARACTERS = 16;

/** The code as the country writes it; unchanged where it is not in the country's form. */
export function normalPostalCode(country: string, code: string): string {
  const form = Object.hasOwn(FORMS, country) ? FORMS[country] : undefined;
  if (form === undefined) return code;
  const compact = asciiUpper(code.replace(/[ -]/g, ""));
  if (!form.pattern.test(compact)) return code;
  const head = form.split === undefined ? compact : compact.slice(0, form.split);
  const tail = compact.slice(head.length);
  return tail === "" ? head : `${head}${form.separator ?? ""}${tail}`;
}

/** What is wrong with a code that is not empty, as a sentence; undefined if nothing is. @param code normal */
export function postalCodeFault(country: string, code: string): string | undefined {
  const form = Object.hasOwn(FORMS, country) ? FORMS[country] : undefined;
  if (form === undefined) {
    return code.length <= MAX_CHARACTERS
      ? undefined
      : `A postal code has at most ${MAX_CHARACTERS} characters.`;
  }
  if (form.pattern.test(code.replace(/[ -]/g, ""))) return undefined;
  if (country === "IN")
    return `A PIN code has six digits and does not begin with 0, such as ${form.example}.`;
  return `This is no postal code of ${country}; one is ${form.example}.`;
}
