/** Console sessions as stored and as shown: opaque to the browser, everything about them is here. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";

export interface SessionRow {
  readonly id: string;
  readonly userId: string;
  /** Issuer of the sign-in, and its name for the provider's own session; empty where it told none. */
  readonly iss: string;
  readonly sid: string;
  /** How the person proved who they are: RFC 8176 `amr`, and `acr`. */
  readonly amr: readonly string[];
  readonly acr: string;
  /** Shown to the provider again at sign-out. */
  readonly idToken: string;
  /** Empty until one is chosen. */
  readonly activeOrgId: string;
  readonly ipPrefix: string;
  readonly userAgent: string;
  readonly createdAtMs: number;
  /** The longest that any org allows; each org's `session_hours` ends it for that org. */
  readonly endsAtMs: number;
}

export const sessionShape = z.object({
  id: z.string().describe("The session's id."),
  created_at: field.createdAt,
  ends_at: field.time(
    "When it ends for good",
    "For an org it ends `session_hours` after sign-in, which may be earlier",
  ),
  ip_prefix: z.string().describe("The client's network at sign-in: /24 of IPv4, /48 of IPv6."),
  user_agent: z.string().describe("The client's `User-Agent`."),
  second_factor: z.boolean().describe("Whether the sign-in had one, as the identity provider says"),
  current: z.boolean().describe("The session that asks"),
});

export const sessionWire = (row: SessionRow, current: string): z.input<typeof sessionShape> => ({
  id: row.id,
  created_at: isoTime(row.createdAtMs),
  ends_at: isoTime(row.endsAtMs),
  ip_prefix: row.ipPrefix,
  user_agent: row.userAgent,
  second_factor: hasSecondFactor(row),
  current: row.id === current,
});

/**
 * What stands for a second factor: values of `amr` (RFC 8176, section 2) that no password gives, and of `acr` that promise
 * more than one factor.
 */
const SECOND_FACTORS = new Set([
  "mfa",
  "otp",
  "hwk",
  "swk",
  "fpt",
  "face",
  "iris",
  "retina",
  "vbm",
  "sms",
  "tel",
  "sc",
  "mca",
]);
const MULTI_FACTOR_CLASSES = new Set([
  "http://schemas.openid.net/pape/policies/2007/06/multi-factor",
  "https://refeds.org/profile/mfa",
  "phr",
  "phrh",
  "aal2",
  "aal3",
  "urn:mace:incommon:iap:silver",
]);

export const hasSecondFactor = ({ amr, acr }: Pick<SessionRow, "amr" | "acr">): boolean =>
  MULTI_FACTOR_CLASSES.has(acr) || amr.some((method) => SECOND_FACTORS.has(method));
