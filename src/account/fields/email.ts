/**
 * E-mail addresses: what is accepted, and when two are the same. Only the plain form of RFC 5321 (dot-string at a domain
 * name), in ASCII: no quoted parts, no comments, no address literals. Nothing here can end a header line of a mail.
 */
import { z } from "zod";
import { asciiLower } from "./text-field.ts";

/** RFC 5321, sections 4.5.3.1.1 and 4.5.3.1.3: a path has 256 octets, two of them are the angle brackets. */
const MAX_ADDRESS = 254;
const MAX_LOCAL = 64;

/** Dot-atom of RFC 5322, section 3.2.3. Each character fits one place only, so it takes linear time. */
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** RFC 1123, section 2.1. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Why an address is refused, in words for its sender; undefined for a good one. */
function emailFault(email: string): string | undefined {
  if (email.length > MAX_ADDRESS) return `an e-mail address has at most ${MAX_ADDRESS} characters`;
  const at = email.indexOf("@");
  if (at < 1 || at !== email.lastIndexOf("@")) return "an e-mail address has one @, such as name@example.com";
  const local = email.slice(0, at);
  if (local.length > MAX_LOCAL) return `what stands before the @ has at most ${MAX_LOCAL} characters`;
  if (!LOCAL.test(local)) {
    return "before the @ stand letters, digits and signs, without spaces, quotes, or dots at the ends";
  }
  const labels = asciiLower(email.slice(at + 1)).split(".");
  if (labels.length < 2) return "after the @ stands a domain with a dot, such as example.com";
  // The last label of a name has a letter; else it is an IPv4 address (RFC 3696, section 2).
  if (!labels.every((label) => LABEL.test(label)) || !/[a-z]/.test(labels.at(-1) ?? "")) {
    return "after the @ stands a domain such as example.com, an international one in its xn-- form";
  }
  return undefined;
}

/** The address with its domain in lower case. What stands before the @ is kept: its server may tell case apart. */
function withPlainDomain(email: string): string {
  const at = email.lastIndexOf("@");
  return email.slice(0, at) + asciiLower(email.slice(at));
}

const read = (given: string, mayBeEmpty: boolean, context: z.RefinementCtx): string => {
  const email = given.trim();
  if (email === "" && mayBeEmpty) return email;
  const message = emailFault(email);
  if (message === undefined) return withPlainDomain(email);
  context.issues.push({ code: "custom", message, input: given });
  return email;
};

const text = z
  .string()
  .max(1000, `an e-mail address has at most ${MAX_ADDRESS} characters`)
  .meta({ examples: ["billing@example.com"] });

/** An e-mail address, its domain in lower case after it is read. */
export const emailField = text.transform((given, context) => read(given, false, context));

/** The same, or empty for none. */
export const optionalEmailField = text.transform((given, context) => read(given, true, context));

/** The form under which an address is looked up: two addresses are of the same person if their forms are equal. */
export const emailNormalForm = (email: string): string => asciiLower(email.trim());

/** Whether two addresses are of the same person. */
export const sameEmail = (one: string, other: string): boolean =>
  emailNormalForm(one) === emailNormalForm(other);
