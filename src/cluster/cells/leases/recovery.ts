/**
 * The start of a cell's charges: learns which rows of the log are in Redis, and what Redis answered to the last batch if the former
 * process did not store that. A folder that is behind what Redis knows is a copy of an older state, and is refused; but for the first
 * start on a restored Redis, whose copy was made a moment after those of the folders.
 */
import type { Lane } from "../exchange/exchange.ts";
import type { RedisValue } from "../redis/redis.ts";
import { type Charges, LISTED, type Numbering } from "./charges.ts";

export interface RecoveredCredit {
  /** The last row that is in Redis. */
  readonly chargedTo: number;
  /** The newest life of the cell that was retired; 0: none was. It stays so while this process may go on. */
  readonly retired: number;
}

/** @throws Error with a line for the operator */
export async function recoverCredit(lane: Lane, charges: Charges, life: number): Promise<RecoveredCredit> {
  const [position = []] = await lane.send([["credit_position"]]);
  const [after, last, mark, numbering, retired, crossed, isRestored] = position as Position;
  if (isRestored === 1) {
    const to = await recoverRestored(lane, charges, { after, last, numbering, crossed }, String(mark));
    return { chargedTo: await skipRetired(lane, charges, { last: to, retired, life }), retired };
  }
  assertNotBehind(charges, last, String(mark));
  const numberedTo = charges.numberedTo();
  if (last < numberedTo) throw lackOfCharges(last, numberedTo);
  if (last > numberedTo) {
    if (after !== numberedTo)
      throw new Error(
        `Redis knows what rows after ${after} are, but those after ${numberedTo} are asked for`,
      );
    await charges.keep(after, last, numbering.map(asText), crossed.map(asText));
  }
  return { chargedTo: await skipRetired(lane, charges, { last, retired, life }), retired };
}

/** What `credit_restate` answers, where Redis came back with older data. */
export function lackIn(answer: readonly RedisValue[] = []): Error | undefined {
  const [last = 0, confirmedTo = 0] = answer.map(Number);
  return last < confirmedTo ? lackOfCharges(last, confirmedTo) : undefined;
}

const lackOfCharges = (last: number, confirmedTo: number): Error =>
  new Error(`Redis has this cell's charges up to row ${last}, but had confirmed them to ${confirmedTo}`);

interface Latest {
  readonly after: number;
  readonly last: number;
  readonly numbering: readonly unknown[];
  readonly crossed: readonly unknown[];
}

/**
 * What Redis has of this cell and the folder lacks was charged by the process that was copied, and that one has listed it. Redis is told
 * that the cell goes on from what the folder has: only once, and stored here first, so that a start that is cut off goes on.
 */
async function recoverRestored(
  lane: Lane,
  charges: Charges,
  { after, last, numbering, crossed }: Latest,
  mark: string,
): Promise<number> {
  const row = charges.row(last);
  if (row !== undefined && row.requestId !== mark) throw new Error(OLDER);
  const [numberedTo, newest] = [charges.numberedTo(), charges.newest()];
  if (last < numberedTo)
    throw new Error(`the restored Redis has charges up to row ${last}, and this folder had ${numberedTo}`);
  const to = Math.min(last, newest);
  if (to === last && after === numberedTo && last > numberedTo)
    await charges.keep(after, last, numbering.map(asText), crossed.map(asText));
  else if (to > numberedTo) await charges.keep(numberedTo, to, LISTED);
  await lane.send([["credit_rewind", to, charges.row(to)?.requestId ?? ""]]);
  return to;
}

const OLDER =
  "this folder and Redis have different charges of the cell under the same number: they are not of one backup";

function assertNotBehind(charges: Charges, last: number, mark: string): void {
  const newest = charges.newest();
  const row = charges.row(last);
  if (last > newest || (row !== undefined && row.requestId !== mark))
    throw new Error(
      `this folder is a copy of an older state of the cell: its charges end at row ${newest}, and Redis has others ` +
        `up to row ${last}. Start the newer folder, or give this one to a cell of another name`,
    );
}

/** Rows that a retired life of the cell wrote are charged to nobody: they are passed on as such. */
async function skipRetired(
  lane: Lane,
  charges: Charges,
  { last, retired, life }: { last: number; retired: number; life: number },
): Promise<number> {
  let to = last;
  let mark = "";
  for (let number = last + 1; retired > 0 && retired < life && number <= charges.newest(); number++) {
    const row = charges.row(number);
    if (row === undefined) continue;
    if (row.life > retired) break;
    to = number;
    mark = row.requestId;
  }
  if (to === last) return last;
  const [[isSkipped] = []] = await lane.send([["credit_skip", last, to, mark]]);
  if (isSkipped !== 1) throw new Error("Redis knows other charges of this cell than its folder");
  await charges.keep(last, to, []);
  return to;
}

type Position = [
  after: number,
  last: number,
  mark: Buffer,
  numbering: unknown[],
  retired: number,
  crossed: unknown[],
  isRestored: number,
];

export const asText = (value: unknown): Numbering[number] =>
  typeof value === "number" ? value : String(value);
