/**
 * A request that is too large for the account's tier, which the numbers in a provider's message tell: waiting does not help, other
 * accounts may take it.
 */

/**
 * OpenAI, Groq: "… (TPM): Limit 30000, Requested 36278". If some of the limit is used, "Used" comes between the two. An estimate is
 * "Requested ~12903" (danielmiessler/Fabric#364).
 */
const NUMBERS = /\blimit:? ([\d,]{1,15}),? (?:used:? [\d,]{1,15},? )?requested:? ~?([\d,]{1,15})/i;

/** Whether the message says that more was requested than the limit ever gives. */
export function isOverLimit(message: string): boolean {
  const [, limit = "", requested = ""] = NUMBERS.exec(message) ?? [];
  return requested !== "" && numberOf(requested) > numberOf(limit);
}

const numberOf = (digits: string): number => Number(digits.replaceAll(",", ""));
