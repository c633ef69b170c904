/** The cells of the installation: an operator sees them, and retires one that will not come back. */
import { z } from "zod";
import { fail } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { operation } from "../../base/operation/operation.ts";
import type { Cell } from "./cell.ts";
import type { RegisteredCell } from "./membership/registry.ts";
import { CELL_STATES } from "./membership/states.ts";

export interface OperatorCellDeps {
  /** Undefined: the gateway is alone. */
  readonly cells: Pick<Cell, "listed" | "retire"> | undefined;
}

const cellShape = z.object({
  cell: z.string().describe("Its name, `CELL`"),
  status: z
    .enum(CELL_STATES)
    .describe("`silent`: it ended without a word, or hangs, or is cut off; `left`: it stopped in good order"),
  life: z.int().describe("Number of its newest process, which grows with each start"),
  version: z.int().nullable().describe("Version of the shared rows that it has applied; null once it left"),
  silent_ms: z.int().nullable().describe("Since it last said so"),
  awaited: z
    .boolean()
    .describe("Redis was restarted, and this cell has not said yet what it knows: no lease grows"),
  leased_orgs: z.int().describe("Organisations of whose credit it has a lease"),
  leased_micro_usd: z.int().nullable().describe("Sum of those leases; null where there are more than 1000"),
});

export function operatorCellOperations({ cells }: OperatorCellDeps) {
  return {
    operatorListCells: operation({
      summary: "Cells of the installation; none where the gateway is alone",
      method: "GET",
      path: "/v1/operator/cells",
      access: "operator",
      group: "Operator",
      output: z.object({
        object: field.objectOf("list"),
        version: z.int().nullable().describe("Version of the shared rows, now"),
        data: z.array(cellShape).describe("What is listed."),
      }),
      errors: ["storage_unavailable"],
      run: async () => {
        const listed = cells === undefined ? undefined : await reached(cells.listed());
        const data = (listed?.cells ?? []).map(cellWire);
        return { object: "list" as const, version: listed?.version ?? null, data };
      },
    }),
    operatorRetireCell: operation({
      summary: "End a cell for ever and give its leases back; it must have been silent for 35 s",
      method: "POST",
      path: "/v1/operator/cells/{cell}/retire",
      access: "operator",
      group: "Operator",
      params: z.object({ cell: z.string().max(100).describe("The cell's name.") }),
      output: z.object({
        cell: z.string().describe("The cell's name."),
        status: z.literal("retired").describe("For ever: no process of it so far is accepted again"),
      }),
      errors: ["not_found", "state", "storage_unavailable"],
      run: async ({ params: { cell } }) => {
        const outcome = cells === undefined ? false : await reached(cells.retire(cell));
        if (outcome === false) throw fail("not_found", "There is no such cell.");
        if (outcome === "alive")
          throw fail("state", "The cell is alive, or was until less than 35 s ago. Stop it first.");
        return { cell, status: "retired" as const };
      },
    }),
  };
}

/** @throws WeirError `storage_unavailable` where Redis cannot be asked */
async function reached<T>(asked: Promise<T>): Promise<T> {
  return await asked.catch((cause: unknown) => {
    throw fail("storage_unavailable", "What the cells share could not be reached.", {
      retryAfterMs: 1000,
      cause,
    });
  });
}

const cellWire = (row: RegisteredCell): z.input<typeof cellShape> => ({
  cell: row.cell,
  status: row.status,
  life: row.life,
  version: row.version ?? null,
  silent_ms: row.silentMs ?? null,
  awaited: row.isAwaited,
  leased_orgs: row.leasedOrgs,
  leased_micro_usd: row.leasedMicroUsd ?? null,
});
