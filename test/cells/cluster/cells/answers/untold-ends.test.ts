/**
 * A cell that dies between the commit by which a background response ends and the moment when the others have that: no reader is told of two
 * ends, whether the cell comes back, is retired, or comes back behind its retirement.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { retire } from "../../../../../src/cluster/cells/membership/registry.ts";
import type { StoredResponses } from "../../../../../src/inference/exchange/kept/stored-responses.ts";
import { startFaultProxy } from "../../../../support/cells/fault-proxy.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench } from "../fixtures.ts";
import { type Bounds, type KeptCell, keptCell } from "./answers-rig.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

const open: KeptCell[] = [];
async function opened(name: string, bounds: Parameters<typeof keptCell>[2] & Bounds = {}): Promise<KeptCell> {
  const cell = await keptCell(bench, name, bounds);
  open.push(cell);
  return cell;
}
async function stop(cell: KeptCell): Promise<void> {
  open.splice(open.indexOf(cell), 1);
  await cell.stop();
}
afterEach(async () => {
  for (const each of [...open]) await stop(each);
});

const OWNER = { projectId: "p", environment: "live" } as const;
const KEY = { ...OWNER, orgId: "org", dataPolicy: { retentionDays: 7 } } as Parameters<
  StoredResponses["put"]
>[0];
type Status = "in_progress" | "completed";

/** The response of a call that this process runs, in a state. */
const state = ({ responses: { place } }: KeptCell, status: Status) => ({
  response: `{"id":"resp","status":"${status === "completed" ? status : "queued"}","output":[]}`,
  items: "",
  itemIds: status === "completed" ? ["item"] : [],
  endpointId: "e",
  provider: "p",
  keyId: "k",
  background: { ...place, status },
});

/** How a cell says that the response stands, once it knows. */
const statusAt = (cell: KeptCell, id: string): Promise<unknown> =>
  until(
    "it is known what is stored",
    async () => (await cell.responses.get(OWNER, id))?.background?.status,
    () => true,
  );

/** A cell that died: others know that the response is in progress, and its folder that it is completed. */
async function died(name: string, id: string): Promise<void> {
  const proxy = await startFaultProxy(bench.redis.url);
  const cell = await opened(name, { url: proxy.url });
  await cell.cell.store.act(() => cell.responses.put(KEY, id, state(cell, "in_progress")));
  await cell.responses.shared(KEY, id);
  await cell.kept.idle();
  proxy.refuse(true);
  await cell.cell.store.act(() => cell.responses.replace(KEY, id, state(cell, "completed")));
  await stop(cell);
  await proxy.close();
}

const retired = (name: string) => retire(bench.link, bench.id, name, 0);

test("it comes back: the others say in progress until it has told them that the response is completed", async () => {
  const other = await opened("other");
  await died("returns", "resp_r");
  expect(await statusAt(other, "resp_r")).toBe("in_progress");
  const back = await opened("returns", { sharesLater: true });
  // Nothing that is remembered of its standing is older than its new life.
  await until(
    "it is known to be back",
    () => newLifeAt(other, "returns"),
    equals(Number(back.cell.entered.life)),
  );
  expect(await statusAt(other, "resp_r")).toBe("in_progress");
  expect(await shared(back)).toEqual([]);
  for (const cell of [other, back]) expect(await statusAt(cell, "resp_r")).toBe("completed");
});

/** Tells the others, and gives the responses whose streams go. */
async function shared(back: KeptCell): Promise<readonly string[]> {
  const dropped: string[] = [];
  await back.share(async (id) => void dropped.push(id));
  await back.kept.idle();
  return dropped;
}

const newLifeAt = async ({ cell }: KeptCell, name: string) => (await cell.standings.of(name))?.life;

test("it is retired: the response failed, and stays so at every cell where its folder comes back", async () => {
  const other = await opened("other");
  await died("retires", "resp_x");
  expect(await retired("retires")).toBe(true);
  await until("its end is known", () => statusAt(other, "resp_x"), equals("failed"));
  const failed = await other.responses.get(OWNER, "resp_x");
  const back = await opened("retires", { sharesLater: true });
  await until(
    "it is known to be back",
    () => newLifeAt(other, "retires"),
    equals(Number(back.cell.entered.life)),
  );
  expect(await statusAt(other, "resp_x")).toBe("failed");
  // Its stream ended with another state.
  expect(await shared(back)).toEqual(["resp_x"]);
  for (const cell of [back, other]) expect(await cell.responses.get(OWNER, "resp_x")).toEqual(failed);
  expect((await other.responses.responsesWith(OWNER, ["item"])).get("item")).not.toBe("resp_x");
});

test("it comes back without its folder: the response failed, once that is all that comes of it", async () => {
  const other = await opened("other");
  await died("loses", "resp_l");
  const back = await opened("loses", { folder: "another folder", sharesLater: true });
  expect(await statusAt(other, "resp_l")).toBe("in_progress");
  expect(await shared(back)).toEqual([]);
  await until("its end is known", () => statusAt(other, "resp_l"), equals("failed"));
  expect(await statusAt(back, "resp_l")).toBe("failed");
});
