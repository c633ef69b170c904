/** What requests about keys carry. */
import { z } from "zod";
import { HOLD_MODES } from "../../base/call/hold-mode.ts";
import { SCOPES } from "../../base/operation/access.ts";
import * as field from "../../base/operation/fields.ts";
import { keyFilterFields } from "../../base/operation/key-filter.ts";
import { pageQuery } from "../../base/operation/page.ts";
import { keyBudgetField } from "../fields/budget-fields.ts";
import { changedHoldField } from "../fields/hold-field.ts";
import { nameField } from "../fields/text-field.ts";
import { KEY_STATUSES } from "../key.ts";
import { DEFAULT_SCOPES } from "../scopes.ts";
import { lifetimeField, limitsField } from "./key-fields.ts";

/** How long a rotated key goes on working by default: long enough to deploy its successor. */
const DEFAULT_GRACE_SECONDS = 86_400;
const MAX_GRACE_SECONDS = 30 * 86_400;

const name = nameField.meta({ examples: ["Batch jobs"] });
const scopes = z.array(z.enum(SCOPES)).min(1).max(50);

export const createBody = z.strictObject({
  project_id: z.string().max(100).optional().describe("Default: the project of the key that asks"),
  name: name.describe("Your name for the key."),
  scopes: scopes.optional().describe(`Default: ${DEFAULT_SCOPES.join(", ")}`),
  environment: z.enum(["live", "test"]).optional().describe("Default: the project's"),
  limits: limitsField.optional(),
  budget: keyBudgetField.optional(),
  expires_in: lifetimeField.optional().describe("Hours, such as `720h`. Default: the org's, else never"),
  on_disconnect: field.onDisconnect.optional().describe("Default: cancel"),
  hold: z.enum(HOLD_MODES).optional().describe("Default: as the project's"),
  svc_version: z.string().max(100).optional().describe("Default: the newest"),
});

export const patchBody = z.strictObject({
  name: name.optional().describe("Your name for the key."),
  scopes: scopes.optional().describe("What the key may do."),
  limits: limitsField.optional(),
  budget: keyBudgetField.optional(),
  expires_in: lifetimeField.nullable().optional().describe("Hours from now; null: never"),
  on_disconnect: field.onDisconnect.optional(),
  hold: changedHoldField.optional(),
  svc_version: z.string().max(100).optional().describe("The API version that the key is pinned to."),
});

export const listQuery = z.object({
  ...keyFilterFields,
  status: z.enum(KEY_STATUSES).optional().describe("Only keys of this status."),
  created_by: z.string().max(100).optional().describe("Id of the person or key that made them"),
  person_id: z
    .string()
    .max(100)
    .optional()
    .describe("Id of a person: keys that they made, and those that their keys made"),
  ...pageQuery(100, 200),
});

export const rotateBody = z
  .strictObject({
    grace_seconds: z
      .int()
      .min(0)
      .max(MAX_GRACE_SECONDS)
      .default(DEFAULT_GRACE_SECONDS)
      .describe("The old key works for so long."),
  })
  .default({ grace_seconds: DEFAULT_GRACE_SECONDS });
