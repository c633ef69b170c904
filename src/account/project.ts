/**
 * Projects: the row and its wire shape. A deleted project keeps its row, because records name it, but loses its slug,
 * its entry in lists and its keys.
 */
import { z } from "zod";
import { HOLD_MODES, type HoldMode } from "../base/call/hold-mode.ts";
import { isoTime } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import * as field from "../base/operation/fields.ts";
import { amountShape, budgetWire, hardShape } from "./fields/budget-fields.ts";
import type { Environment } from "./secret.ts";

export interface ProjectRow {
  readonly id: string;
  readonly orgId: string;
  readonly slug: string;
  readonly name: string;
  readonly environment: Environment;
  readonly status: "active" | "deleted";
  /** `null`: no budget. */
  readonly budget: { readonly monthlyMicroUsd: number | null; readonly hard: boolean };
  /** How calls hold whose request and key say nothing of it. Absent: as the org says. */
  readonly hold?: HoldMode;
  readonly createdAtMs: number;
}

/** What a project has spent in the current local day and month. */
export interface ProjectSpending {
  readonly todayMicroUsd: number;
  readonly monthMicroUsd: number;
}

export const newProject = (
  given: Pick<ProjectRow, "orgId" | "slug" | "name" | "environment" | "hold">,
  nowMs: number,
): ProjectRow => ({
  ...given,
  id: newId("prj", nowMs),
  status: "active",
  budget: { monthlyMicroUsd: null, hard: true },
  createdAtMs: nowMs,
});

export const projectShape = z.object({
  id: field.projectId,
  org_id: field.orgId,
  slug: z.string().describe("Short name, unique in the org."),
  name: z.string().describe("Display name."),
  environment: field.environment,
  status: z.enum(["active", "deleted"]).describe("Whether it is in use."),
  budget: z
    .object({ monthly_micro: amountShape, hard: hardShape })
    .describe("What the project may spend in a month, by the org's time zone."),
  hold: z.enum(HOLD_MODES).optional().describe("Absent: as the org's"),
  spend_today_micro: z.int().describe("Charged today, micro-USD."),
  spend_month_micro: z.int().describe("Charged this month, micro-USD."),
  created_at: field.createdAt,
});

export function projectWire(row: ProjectRow, spend: ProjectSpending): z.input<typeof projectShape> {
  const { microUsd, hard } = budgetWire({ microUsd: row.budget.monthlyMicroUsd, hard: row.budget.hard });
  return {
    id: row.id,
    org_id: row.orgId,
    slug: row.slug,
    name: row.name,
    environment: row.environment,
    status: row.status,
    budget: { monthly_micro: microUsd, hard },
    ...(row.hold !== undefined && { hold: row.hold }),
    spend_today_micro: spend.todayMicroUsd,
    spend_month_micro: spend.monthMicroUsd,
    created_at: isoTime(row.createdAtMs),
  };
}
