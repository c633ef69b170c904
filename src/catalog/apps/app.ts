/** An app that an org has registered: its row, its fields, and how the API shows it. */
import { z } from "zod";
import { plainText } from "../../account/fields/text-field.ts";
import { isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";

/** What an app is for; rankings can be restricted to one. */
export const CATEGORIES = [
  "agents",
  "assistant",
  "coding",
  "customer_support",
  "data_analysis",
  "education",
  "games",
  "image_video",
  "marketing",
  "productivity",
  "research",
  "writing",
  "other",
] as const;

export const categoryField = z.enum(CATEGORIES);

export interface AppRow {
  /** Only one app of all orgs has it; it never changes. */
  readonly slug: string;
  readonly orgId: string;
  readonly name: string;
  readonly category: string;
  /** Empty: none. */
  readonly url: string;
  /** Whether everybody may see the app and its figures. */
  readonly isPublic: boolean;
  readonly createdAtMs: number;
}

export const appNameField = plainText(100).min(1, "a name has at least one character");

/** Empty: none. A password would be shown to everybody. */
export const appUrlField = z
  .string()
  .max(300)
  .refine((text) => text === "" || isWebAddress(text), {
    error: "use an address such as https://app.example.com, without a password",
  });

function isWebAddress(text: string): boolean {
  const url = /^https?:\/\/[\x21-\x7e\xa1-\uffff]+$/i.test(text) ? URL.parse(text) : null;
  return url !== null && url.host !== "" && url.username === "" && url.password === "";
}

export const appShape = z.object({
  slug: z.string().describe("Names the app in addresses; never changes."),
  name: z
    .string()
    .describe("The app's name; calls that give it as `svc.metadata.app` or `X-Title` are counted."),
  category: z.string().describe("What the app is for."),
  url: z
    .string()
    .describe("Where the app is; calls with its host in `HTTP-Referer` are counted. Empty: nowhere."),
  public: z.boolean().describe("Whether everybody may see the app and its figures."),
  created_at: field.createdAt,
});

export const appWire = (row: AppRow): z.output<typeof appShape> => ({
  slug: row.slug,
  name: row.name,
  category: row.category,
  url: row.url,
  public: row.isPublic,
  created_at: isoTime(row.createdAtMs),
});

/** Longest slug, as `slugField` has it. */
const MAX_SLUG = 63;

/** A slug made of a name: letters without their accents, digits, hyphens. Empty where the name has none of these. */
export const slugOf = (name: string): string =>
  name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, MAX_SLUG)
    .replace(/-$/, "");
