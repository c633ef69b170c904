/**
 * Which installation a folder belongs to. A folder that joined one is a copy of part of it: a gateway that took it for its own, or gave
 * it to another installation, would lose what the others wrote, or spend their credit again.
 */
import type { Store } from "../store/store.ts";

interface Membership {
  /** Id of the dataset. */
  readonly id: string;
}

const TABLE = "cells.membership";
const KEY = "dataset";

/** Id of the dataset that a folder belongs to; undefined: it belongs to no installation of several cells. */
export const membershipOf = (local: Store): string | undefined => local.table<Membership>(TABLE).get(KEY)?.id;

export async function joinDataset(local: Store, id: string): Promise<void> {
  await local.act(() => local.table<Membership>(TABLE).put(KEY, { id }));
}

/** @throws Error where the folder is a cell's, and was started as a gateway of its own */
export function assertAlone(local: Store): void {
  if (membershipOf(local) === undefined) return;
  throw new Error("the data folder is a cell's: its other cells would not see what this gateway writes");
}
