/** Which keys of an org a list is asked for: members of its query. */
import { z } from "zod";

/** Which keys a list has: those that somebody made, those of the playground, or both. */
export const KEY_KINDS = ["key", "playground", "any"] as const;
export type KeyKinds = (typeof KEY_KINDS)[number];

export const keyFilterFields = {
  q: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .optional()
    .describe(
      "Only keys whose name contains this text, whatever its case, or whose secret ends with these four characters. What begins with `key_` is the beginning of an id.",
    ),
  project_id: z.string().max(100).optional().describe("Only keys of this project."),
  kind: z
    .enum(KEY_KINDS)
    .default("key")
    .describe("`key`: keys that somebody made; `playground`: people's keys of the playground; `any`: both."),
};

export interface KeyFilter {
  readonly q?: string | undefined;
  readonly project_id?: string | undefined;
  readonly kind: KeyKinds;
}
