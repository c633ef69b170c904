/** When a cell that stops has left its clients to the others. */
import { describe, expect, test } from "vitest";
import { Departure } from "../../../../src/host/gateway/departure.ts";
import { LIMIT_MS, until } from "../../../support/wait.ts";

const CONNECTED = { isEmpty: () => false, isCalling: () => false, withinMs: LIMIT_MS, idleMs: LIMIT_MS };
const never = new Promise<void>(() => {});

/** A cell that stops, and whether it waits no longer. */
function leaving(clients: Partial<Parameters<Departure["wait"]>[0]> = {}) {
  const cell = new Departure();
  cell.begin();
  let isOver = false;
  const over = cell.wait({ ...CONNECTED, hurry: undefined, ...clients }).then(() => {
    isOver = true;
  });
  return { cell, over, isOver: () => isOver };
}

/** More looks than a wait takes that sees nothing. */
async function looks(): Promise<void> {
  for (let n = 0; n < 2; n++) await leaving().over;
}

describe.concurrent("a cell that stops", () => {
  test("tells its clients to connect anew once it stops", () => {
    const cell = new Departure();
    expect(cell.requestBegan()).toBe(false);
    cell.begin();
    expect([cell.hasBegun, cell.requestBegan()]).toEqual([true, true]);
  });

  test("waits until requests of before and from then on are answered, and no more come", async () => {
    const cell = new Departure();
    cell.requestBegan();
    cell.begin();
    let isOver = false;
    const over = cell.wait({ ...CONNECTED, hurry: undefined }).then(() => {
      isOver = true;
    });
    await looks();
    expect(isOver).toBe(false);
    cell.requestBegan();
    cell.requestEnded();
    await looks();
    expect(isOver).toBe(false);
    cell.requestEnded();
    cell.sending(1);
    await looks();
    expect(isOver).toBe(false);
    cell.sending(-1);
    await over;
  });

  test("waits no longer once no client is connected", async () => {
    let clients = 1;
    const { cell, over, isOver } = leaving({ isEmpty: () => clients === 0 });
    cell.requestBegan();
    await looks();
    expect(isOver()).toBe(false);
    clients = 0;
    await over;
  });

  test("on a shared port it waits for its clients, also where they send nothing, or until no other cell is left", async () => {
    const hurry = Promise.withResolvers<void>();
    const { over, isOver } = leaving({ hurry: hurry.promise });
    await looks();
    expect(isOver()).toBe(false);
    hurry.resolve();
    await over;
  });

  test("waits for idle clients behind the last call and the last request only", async () => {
    let isCalling = true;
    const { cell, over, isOver } = leaving({ hurry: never, idleMs: 40, isCalling: () => isCalling });
    cell.requestBegan();
    await looks();
    expect(isOver()).toBe(false);
    // As the download of a file that takes longer than the calls.
    isCalling = false;
    await looks();
    expect(isOver()).toBe(false);
    cell.requestEnded();
    await over;
  });

  test("waits at the end until clients have taken their answers, or for its time", async () => {
    const cell = new Departure();
    await cell.sent(LIMIT_MS);
    cell.sending(1);
    let isSent = false;
    const sent = cell.sent(LIMIT_MS).then(() => {
      isSent = true;
    });
    await looks();
    expect(isSent).toBe(false);
    cell.sending(-1);
    await sent;
    cell.sending(1);
    await cell.sent(40);
  });

  test("waits at the end for requests that are being answered, or for its time", async () => {
    const cell = new Departure();
    cell.requestBegan();
    let isSent = false;
    const sent = cell.sent(LIMIT_MS).then(() => {
      isSent = true;
    });
    await looks();
    expect(isSent).toBe(false);
    cell.requestEnded();
    await sent;
    cell.requestBegan();
    await cell.sent(40);
  });

  test("does not wait for ever for requests that come again and again, or for one that does not end", async () => {
    for (const hurry of [undefined, never]) {
      const { cell, over, isOver } = leaving({ withinMs: 100, hurry });
      cell.requestBegan();
      await until("its time is over", isOver);
      await over;
    }
  });
});
