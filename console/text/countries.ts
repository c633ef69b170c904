/** Countries: the codes that ISO 3166-1 assigns (alpha-2), by name. The API takes the same ones, and a test compares them. Pure. */

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

export const COUNTRIES: readonly string[] = Object.entries(ASSIGNED).flatMap(([first, seconds]) =>
  [...seconds].map((second) => first + second),
);

/** Code and name, in the order of the names. */
export function countryOptions(): readonly (readonly [code: string, name: string])[] {
  const names = new Intl.DisplayNames("en", { type: "region" });
  return COUNTRIES.map((code) => [code, names.of(code) ?? code] as const).sort(([, one], [, other]) =>
    one.localeCompare(other, "en"),
  );
}
