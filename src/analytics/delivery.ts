/**
 * Brings one batch into ClickHouse exactly once. The first insertion is sent as it is. Once it is in doubt whether an
 * insertion was made (it did not answer, or the gateway or the engine died), the engine's deduplication log proves nothing:
 * it is written before the part, so a kill between the two leaves a token without rows. The batch's rows are then looked
 * up, and the missing ones are inserted, until none is missing.
 */
import type { ClickHouse, Target } from "./client.ts";

/** A table that gets something of each batch. */
export interface Destination {
  readonly table: string;
  /** Inserts the whole batch. Absent where another table's insertion does it. */
  insert?(target: Target): Promise<void>;
  /** Looks up which rows have arrived. @returns a function that inserts the missing rows; undefined where none is missing */
  missing(): Promise<InsertMissing | undefined>;
}

/** @returns false where there was nothing to insert after all */
type InsertMissing = (target: Target) => Promise<boolean>;

export interface Delivery {
  /** Of the batch: durable before it is sent, and the same for each try. */
  readonly token: string;
  /** Whether an earlier insertion of it may have been made, in part or in whole. */
  readonly isDoubtful: boolean;
  /** In the order in which they are filled. */
  readonly destinations: readonly Destination[];
}

/** The batch's own token, the one after a loss, one more in case that one is lost too: then the next try begins anew. */
const ROUNDS = 3;

/** Resolves once everything is in. @throws where it is not known to be: the batch is then in doubt */
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
  // An insertion still under way would be taken for a lost one.
  for (const { target } of targets) await clickhouse.ended(target.queryId);
  await clickhouse.synced(destinations.map(({ table }) => table));
  for (const { destination, target } of targets) await complete(destination, target);
}

/** Tokens follow a fixed order, each used only after the one before was answered: a repetition meets its own. */
async function complete(destination: Destination, target: Target): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const insertMissing = await destination.missing();
    if (insertMissing === undefined) return;
    const token = round === 0 ? target.token : `${target.token}-${round}`;
    if (!(await insertMissing({ ...target, token }))) return;
  }
  throw new Error(`rows of ${destination.table} are missing after ${ROUNDS} insertions`);
}
