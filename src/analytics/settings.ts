/** `analytics` of weir.yaml, and what the embedded engine demands of the data folder. */
import { z } from "zod";

export const analyticsField = z
  .strictObject({
    /** How analysts' statements run in the embedded engine; `confined`: their users are off where the system cannot confine. */
    analysts: z.enum(["confined", "unconfined", "off"]).default("confined"),
  })
  .prefault({});

/** @throws Error where the engine would insert the rows of no file, and report success */
export function checkForEngine(dataDir: string): void {
  const [found] = /[*?{}]/.exec(dataDir) ?? [];
  if (found === undefined) return;
  throw new Error(
    `DATA_DIR: ${dataDir} contains "${found}", which the embedded analytics engine takes for a pattern. Choose another folder, or set CLICKHOUSE_URL`,
  );
}
