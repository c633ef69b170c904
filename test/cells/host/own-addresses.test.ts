/** No tenant's URL reaches any cell of the installation, whichever cell is asked to call it. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { CellAddresses } from "../../../src/cluster/cells/membership/addresses.ts";
import { type Address, readAddress } from "../../../src/outbound/address.ts";
import { tempStore } from "../../support/credits/fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { DAY, ManualTime } from "../../support/jobs/fixtures.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const missing = missingRedis();
let gateway: TestGateway;
beforeAll(async () => {
  if (missing !== undefined) return;
  gateway = await testGateway({ cells: 3, engine: false });
});
afterAll(() => gateway?.stop());

/** @returns status and code of the answer of the cell at `at` */
async function created(at: string, url: string): Promise<unknown[]> {
  const answer = await fetch(`${at}/v1/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
    body: JSON.stringify({ url }),
  });
  const { error } = (await answer.json()) as { error?: { code: string; param: string } };
  return [answer.status, error?.code, error?.param];
}

const REFUSED = [400, "invalid_value", "/url"];

test.skipIf(missing)(
  "every cell refuses the ports of all cells, on all names of loopback, and of the proxy in front",
  async () => {
    const cells = gateway.cellUrls ?? [];
    expect(cells).toHaveLength(3);
    for (const at of cells) {
      for (const of of [...cells, gateway.url]) {
        const { port } = new URL(of);
        for (const host of ["127.0.0.1", "localhost", "[::1]", "0.0.0.0"]) {
          const url = `http://${host}:${port}/hook`;
          // A cell hears of the others a moment after their start.
          await until(`${at} refuses ${url}`, async () => (await created(at, url))[0] === 400);
          expect(await created(at, url)).toEqual(REFUSED);
        }
      }
    }
  },
);

test.skipIf(missing)(
  "a cell refuses the services of the machine as soon as another cell has started one",
  async () => {
    const cells = gateway.cellUrls ?? [];
    const away = await fetch(`${cells[0]}/auth/login`, { redirect: "manual" });
    const { port } = new URL(away.headers.get("location") ?? "");
    for (const at of cells) expect(await created(at, `http://127.0.0.1:${port}/hook`)).toEqual(REFUSED);
  },
);

const address = (text: string) => readAddress(text) as Address;

test("an address counts with its own ports, until its cell has moved or was silent for a week", async () => {
  const { store, dispose } = tempStore();
  onTestFinished(dispose);
  const time = new ManualTime();
  const failures: unknown[] = [];
  const cell = (name: string, addresses: string[], ports: number[]) => {
    const own = { addresses, ports };
    const opened = new CellAddresses({
      store,
      clock: time,
      timers: time,
      cell: name,
      own: () => own,
      onFailure: (error) => failures.push(error),
    });
    onTestFinished(() => opened.close());
    opened.start();
    return { opened, own };
  };
  const near = cell("near", ["10.1.1.1", "2606:4700::1"], [8787]);
  const far = cell("far", ["10.1.1.2"], [9000]);
  const local = cell("local", [], [9100]);
  const has = (text: string, port: number) => near.opened.has(address(text), port);
  await until("all have told", () => has("10.1.1.1", 8787) && has("10.1.1.2", 9000) && has("::1", 9100));
  expect([has("2606:4700:0::1", 8787), has("127.0.0.1", 9000), has("0.0.0.0", 9100)]).toEqual([
    true,
    true,
    true,
  ]);
  expect([has("10.1.1.1", 9000), has("10.1.1.2", 8787), has("10.1.1.3", 8787)]).toEqual([
    false,
    false,
    false,
  ]);
  far.own.ports.push(9001);
  expect(has("10.1.1.2", 9001)).toBe(false);
  time.advance(10_000);
  await until("it is told", () => has("10.1.1.2", 9001));
  local.opened.close();
  for (let day = 0; day < 8; day++) {
    time.advance(DAY + 1);
    const row = () => store.table<{ atMs: number }>("cell_addresses").get("near");
    await until("it is told anew", () => row()?.atMs === time.now());
  }
  expect([has("::1", 9100), has("10.1.1.1", 8787), failures]).toEqual([false, true, []]);
  expect([...store.table("cell_addresses").range()].map(({ key }) => key)).toEqual(["far", "near"]);
});
