/**
 * A cell stops while clients of it follow another cell's call, whose request they repeated: their call is no call of that cell, so the stop
 * does not wait for it. Their connections break off, and the next cell has the same stream for them.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { begin, eventsIn, readSome, resumed, said } from "../../../../support/detached/fixtures.ts";
import { until } from "../../../../support/wait.ts";
import { by, DetachedCells } from "./cells-rig.ts";

/** A cell waits a share of this for clients that are connected. Exit code 0 says that nothing took longer. */
const STOP = { shutdown_ms: 6000 };

let cells: DetachedCells;
beforeAll(async () => {
  cells = await DetachedCells.open();
});
afterAll(() => cells?.close());

/** What a client got until its answer ended, or its connection was cut. */
async function restOf(response: Response): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  let text = "";
  try {
    for await (const bytes of response.body as ReadableStream<Uint8Array>)
      text += Buffer.from(bytes).toString("latin1");
    return { text, isWhole: true };
  } catch {
    return { text, isWhole: false };
  }
}

test("who follows a stream is cut with the cell, and gets the same stream at another one", async () => {
  const name = "follows-stream";
  const [owner, other, stopping] = [cells.at(0), cells.at(1), await cells.start(name, { timeouts: STOP })];
  const asked = { svc: by("stalls"), headers: { "idempotency-key": name } };
  const before = cells.gateway.simulator.totalCalls;
  const going = new AbortController();
  const first = await begin(owner, "messages", { ...asked, signal: going.signal });
  const { id, text } = await readSome(first, 20, going);
  const joined = await begin(stopping, "messages", asked);
  expect(joined.headers.get("x-svc-request-id")).toBe(id);
  const rest = restOf(joined);
  // The call says nothing more, and ends when it is cancelled below: the stop is over before that.
  expect(await cells.stop(name)).toBe(0);
  const cut = await rest;
  expect(cut.isWhole).toBe(false);
  expect(text.startsWith(said(cut.text).slice(0, text.length))).toBe(true);
  const again = await begin(other, "messages", asked);
  expect(again.headers.get("x-svc-request-id")).toBe(id);
  const whole = restOf(again);
  expect((await cells.call(owner, "POST", `/v1/generation/${id}/cancel`)).status).toBe(200);
  const { text: got, isWhole } = await whole;
  expect(isWhole).toBe(true);
  expect(said(got)).toBe((await resumed(owner, id)).text);
  expect(said(got).startsWith(said(cut.text))).toBe(true);
  expect(eventsIn(got).at(-1)).toMatch(/event: error\ndata: .*"code":"cancelled"/);
  expect(cells.gateway.simulator.totalCalls - before).toBe(1);
  const charges = await until(
    "it is charged",
    () => cells.chargesOf(id),
    ({ length }) => length > 0,
  );
  expect(charges).toHaveLength(1);
});
