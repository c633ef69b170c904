/**
 * Countries: the codes that ISO 3166-1 assigns (alpha-2), 249 of them. `Intl.DisplayNames` cannot say which are assigned: it
 * also names 31 that are withdrawn, reserved or not of ISO (SU, UK, EU, XK, ZZ). It gives the names only.
 */
import { z } from "zod";
import { asciiUpper } from "./text-field.ts";

/** One letter of the code, then the second letters that are assigned after it. */
const ASSIGNED: Readonly<Record<string, string>> = {
  A: "DEFGILMOQRSTUWXZ",
  B: "ABDEFGHIJLMNOQRSTVWYZ",
  C: "ACDFGHIKLMNORUVWXYZ",
  D: "EJKMOZ",
  E: "CEGHRST",
  F: "IJKMOR",
  G: "ABDEFGHILMNPQRSTUWY",
  H: "KMNRTU",
  I: "DELMNOQRST",
  J: "EMOP",
  K: "EGHIMNPRWYZ",
  L: "ABCIKRSTUVY",
  M: "ACDEFGHKLMNOPQRSTUVWXYZ",
  N: "ACEFGILOPRUZ",
  O: "M",
  P: "AEFGHKLMNRSTWY",
  Q: "A",
  R: "EOSUW",
  S: "ABCDEGHIJKLMNORSTVXYZ",
  T: "CDFGHJKLMNORTVWZ",
  U: "AGMSYZ",
  V: "ACEGINU",
  W: "FS",
  Y: "ET",
  Z: "AMW",
};

/** In alphabetical order. */
export const COUNTRIES: readonly string[] = Object.entries(ASSIGNED).flatMap(([first, seconds]) =>
  [...seconds].map((second) => first + second),
);

const KNOWN: ReadonlySet<string> = new Set(COUNTRIES);

/** @param code alpha-2, upper case */
export const isCountry = (code: string): boolean => KNOWN.has(code);

let names: Intl.DisplayNames | undefined;

/** The English name of a country, such as `India`. */
export function countryName(code: string): string {
  names ??= new Intl.DisplayNames(["en"], { type: "region" });
  return names.of(code) ?? code;
}

/** A country code, in upper case after it is read. */
export const countryField = z
  .string()
  .max(20, "a country code has two letters")
  .meta({ examples: ["IN"] })
  .transform((given, context) => {
    const code = asciiUpper(given.trim());
    if (isCountry(code)) return code;
    const message =
      code === "UK"
        ? "the code of the United Kingdom is GB"
        : "a country code of two letters (ISO 3166-1 alpha-2), such as IN or US";
    context.issues.push({ code: "custom", message, input: given });
    return code;
  });
