/**
 * Inserts one batch into ClickHouse exactly once. The first time, the batch is sent without any check. If it is unknown
 * whether an insertion was made (no answer came, or the gateway or the engine died), the engine's deduplication log proves
 * nothing: the engine writes it before the part, so a kill between the two leaves a token without rows. The batch's rows are
 * then looked up, and missing ones are inserted, until none is missing.
 */
import type { ClickHouse, Target } from "../clickhouse/client.ts";

/** A table that receives rows of each batch. */
export interface Destination {
  readonly table: string;
  /** Inserts the whole batch. Absent if the insertion into another table fills this one. */
  insert?(target: Target): Promise<void>;
  /**
   * Looks up which rows are in the table. @returns a function that inserts the missing rows; undefined if none is
   * missing
   */
  missing(): Promise<InsertMissing | undefined>;
}

/** @returns false if there was nothing to insert */
type InsertMissing = (target: Target) => Promise<boolean>;

export interface Delivery {
  /** Token of the batch: on disk before the batch is sent, and the same at each try. */
  readonly token: string;
  /** Whether an earlier insertion of the batch may have succeeded, wholly or in part. */
  readonly isDoubtful: boolean;
  /** In the order of insertion. */
  readonly destinations: readonly Destination[];
}

/**
 * The batch's own token, a second one if that was stored without its rows, a third if the second was too. If all three
 * fail, the delivery throws and is tried again.
 */
const ROUNDS = 3;

/**
 * Resolves once all rows are inserted. @throws if that is not known: the next delivery of the batch must then be
 * doubtful
 */
export async function deliver(
  clickhouse: Pick<ClickHouse, "ended" | "synced">,
  delivery: Delivery,
): Promise<void> {
  const { token, isDoubtful, destinations } = delivery;
  const targets = destinations.map((destination) => {
    const name = `${token}-${destination.table}`;
    return { destination, target: { token: name, queryId: name } };
  });
  if (!isDoubtful) {
    for (const { destination, target } of targets) await destination.insert?.(target);
    return;
  }
  // Rows of an insertion that is still running would look missing.
  for (const { target } of targets) await clickhouse.ended(target.queryId);
  await clickhouse.synced(destinations.map(({ table }) => table));
  for (const { destination, target } of targets) await complete(destination, target);
}

/**
 * Uses tokens in a fixed order, each only after the insertion under the previous one was answered: a repetition uses the
 * same token for the same insertion.
 */
async function complete(destination: Destination, target: Target): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const insertMissing = await destination.missing();
    if (insertMissing === undefined) return;
    const token = round === 0 ? target.token : `${target.token}-${round}`;
    if (!(await insertMissing({ ...target, token }))) return;
  }
  throw new Error(`rows of ${destination.table} are missing after ${ROUNDS} insertions`);
}
