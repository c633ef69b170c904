/**
 * Which installation a folder belongs to. A folder that joined one is a copy of part of it: a gateway that took it for its own, or gave
 * it to another installation, would lose what the others wrote, or spend their credit again.
 */
import { randomUUID } from "node:crypto";
import type { Store } from "../../../store/store.ts";

interface Membership {
  /** Id of the dataset. */
  readonly id: string;
  /** Name of the folder's cell, since its first start as one. */
  readonly cell?: string;
  /** Id of the folder, by which Redis tells it from others that want the same name. Made when the folder first asks for a name. */
  readonly folder?: string;
}

const TABLE = "cells.membership";
const KEY = "dataset";
const UPLOAD = "upload";

/** Id of the dataset that a folder belongs to; undefined: it belongs to no installation of several cells. */
export const membershipOf = (local: Store): string | undefined => local.table<Membership>(TABLE).get(KEY)?.id;

export const cellNameOf = (local: Store): string | undefined => local.table<Membership>(TABLE).get(KEY)?.cell;

/** The folder is that of this cell from now on. */
export const nameCell = (local: Store, cell: string): Promise<void> => change(local, { cell });

/** Id of the folder itself: made when it is first asked for, and the same from then on. */
export async function folderIdOf(local: Store): Promise<string> {
  const known = local.table<Membership>(TABLE).get(KEY)?.folder;
  if (known !== undefined) return known;
  const folder = randomUUID();
  await change(local, { folder });
  return folder;
}

async function change(local: Store, part: Partial<Membership>): Promise<void> {
  const table = local.table<Membership>(TABLE);
  await local.act(() => {
    const row = table.get(KEY);
    if (row !== undefined) table.put(KEY, { ...row, ...part });
  });
}

/** Id of the dataset that was begun from this folder, until it is finished. */
export const uploadOf = (local: Store): string | undefined => local.table<Membership>(TABLE).get(UPLOAD)?.id;

export async function noteUpload(local: Store, id: string | undefined): Promise<void> {
  const table = local.table<Membership>(TABLE);
  await local.act(() => (id === undefined ? table.remove(UPLOAD) : table.put(UPLOAD, { id })));
}

export async function joinDataset(local: Store, id: string): Promise<void> {
  await local.act(() => local.table<Membership>(TABLE).put(KEY, { id }));
}

/** @throws Error where the folder is a cell's, and was started as a gateway of its own */
export function assertAlone(local: Store): void {
  if (membershipOf(local) === undefined) return;
  throw new Error("the data folder is a cell's: its other cells would not see what this gateway writes");
}
