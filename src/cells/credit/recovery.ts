/**
 * The start of a cell's charges: learns which rows of the log are in Redis, and what Redis answered to the last batch if the former
 * process did not store that. A folder that is behind what Redis knows is a copy of an older state, and is refused.
 */
import type { Lane } from "../exchange.ts";
import type { RedisValue } from "../redis.ts";
import type { Charges, Numbering } from "./charges.ts";

/**
 * @returns the last row that is in Redis
 * @throws Error with a line for the operator
 */
export async function recoverCredit(lane: Lane, charges: Charges, life: number): Promise<number> {
  const [position = []] = await lane.send([["credit_position"]]);
  const [after, last, mark, numbering, retired, crossed] = position as Position;
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
  return await skipRetired(lane, charges, { last, retired, life });
}

/** What `credit_restate` answers, where Redis came back with older data. */
export function lackIn(answer: readonly RedisValue[] = []): Error | undefined {
  const [last = 0, confirmedTo = 0] = answer.map(Number);
  return last < confirmedTo ? lackOfCharges(last, confirmedTo) : undefined;
}

const lackOfCharges = (last: number, confirmedTo: number): Error =>
  new Error(`Redis has this cell's charges up to row ${last}, but had confirmed them to ${confirmedTo}`);

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

type Position = [after: number, last: number, mark: Buffer, numbering: unknown[], retired: number, unknown[]];

export const asText = (value: unknown): Numbering[number] =>
  typeof value === "number" ? value : String(value);
