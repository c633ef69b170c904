/**
 * Time zones of the IANA database, by whose midnight budgets reset. A zone has one name here, because days are cached by
 * name (`localDay` of clock.ts) and a name that this Node does not know would stop every call of the org.
 */
import { z } from "zod";

/**
 * Area and place. Without an area only UTC and GMT: Node also takes offsets (+05:30) and abbreviations that mean one thing
 * in India and another in Ireland (IST).
 */
const NAME = /^(?:UTC|GMT|[A-Z][A-Z0-9_+-]*(?:\/[A-Z0-9_+-]+){1,3})$/i;
const MAX_CHARACTERS = 64;

/**
 * Node names some zones as they were called long ago, because ICU keeps its names for good. The IANA database has
 * renamed them (its file `backward`; attribute `iana` of CLDR's timezone.xml).
 */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ["Africa/Asmera", "Africa/Asmara"],
  ["America/Buenos_Aires", "America/Argentina/Buenos_Aires"],
  ["America/Catamarca", "America/Argentina/Catamarca"],
  ["America/Coral_Harbour", "America/Atikokan"],
  ["America/Cordoba", "America/Argentina/Cordoba"],
  ["America/Godthab", "America/Nuuk"],
  ["America/Indianapolis", "America/Indiana/Indianapolis"],
  ["America/Jujuy", "America/Argentina/Jujuy"],
  ["America/Louisville", "America/Kentucky/Louisville"],
  ["America/Mendoza", "America/Argentina/Mendoza"],
  ["Asia/Calcutta", "Asia/Kolkata"],
  ["Asia/Katmandu", "Asia/Kathmandu"],
  ["Asia/Rangoon", "Asia/Yangon"],
  ["Asia/Saigon", "Asia/Ho_Chi_Minh"],
  ["Atlantic/Faeroe", "Atlantic/Faroe"],
  ["Europe/Kiev", "Europe/Kyiv"],
  ["Pacific/Enderbury", "Pacific/Kanton"],
  ["Pacific/Ponape", "Pacific/Pohnpei"],
  ["Pacific/Truk", "Pacific/Chuuk"],
]);

/** The name that Node gives a zone; undefined if it knows none of this name. */
function nodeName(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** The zone's name in the IANA database, whichever of its names is given in whichever case; undefined if there is none. */
export function canonicalTimeZone(name: string): string | undefined {
  // Most orgs keep it, and a process whose orgs all do needs no data of languages and zones.
  if (name === "UTC") return name;
  if (name.length > MAX_CHARACTERS || !NAME.test(name)) return undefined;
  const known = nodeName(name);
  if (known === undefined) return undefined;
  const renamed = RENAMED.get(known);
  return renamed !== undefined && nodeName(renamed) !== undefined ? renamed : known;
}

/** A time zone, under its name in the IANA database after it is read. */
export const timeZoneField = z
  .string()
  .max(MAX_CHARACTERS, "an IANA time zone, such as Asia/Kolkata or UTC")
  .meta({ examples: ["Asia/Kolkata"] })
  .transform((given, context) => {
    const zone = canonicalTimeZone(given.trim());
    if (zone !== undefined) return zone;
    const message = "an IANA time zone, such as Asia/Kolkata or UTC";
    context.issues.push({ code: "custom", message, input: given });
    return given;
  });
