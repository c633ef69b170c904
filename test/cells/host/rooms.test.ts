/**
 * Acts at random of all rooms, from all cells at once: keys, projects, policies, members, credit and webhooks. They equal the serial
 * order of the stream, each answered change is audited and told of once, and all cells end with the same rows.
 * `test/crash/cluster/cells/rooms.test.ts` does the same while cells are killed.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { connectRedis, type RedisLink } from "../../../src/cluster/cells/redis/redis.ts";
import { known } from "../../support/cells/known.ts";
import { RoomsChecks, type Sent, stateOf } from "../../support/cells/rooms.checks.ts";
import { auditedActs } from "../../support/cells/rooms.model.ts";
import { type Order, Orders, PLAN } from "../../support/cells/rooms.orders.ts";
import { amount } from "../../support/effort.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";
import { missingRedis, type TestRedis } from "../../support/redis-server.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";

const missing = missingRedis();
const CELLS = amount(8, 3);
const ACTS = amount(1000, 150);
/** Acts under way at each cell. */
const AT_ONCE = 5;

describe.skipIf(missing !== undefined)(`rooms${missing === undefined ? "" : `: ${missing}`}`, () => {
  let gateway: TestGateway;
  let link: RedisLink;
  let cells: readonly string[];
  let orgId: string;
  let operatorKey: string;
  const seed = Number(process.env.WEIR_SEED ?? Date.now() % 1e9);
  const hint = `WEIR_SEED=${seed}`;
  beforeAll(async () => {
    const settings = { webhooks: { allow: ["127.0.0.0/8"] } };
    gateway = await testGateway({ cells: CELLS, plans: [PLAN], settings });
    cells = gateway.cellUrls ?? [];
    operatorKey = readFileSync(join(gateway.folder, "data", "operator-key"), "utf8").trim();
    orgId = (await gateway.call("GET", "/v1/orgs")).json.data[0].id;
    link = connectRedis({ url: (gateway.redis as TestRedis).url, log: { warn() {} } });
    await link.ready(5000);
  });
  afterAll(async () => {
    link.close();
    await gateway.stop();
  });

  async function ask(
    cell: string,
    { method, path, body, isOperator = false }: Omit<Order, "act">,
    mark = "",
  ) {
    const authorization = `Bearer ${isOperator ? operatorKey : gateway.liveKey}`;
    const headers = { authorization, "content-type": "application/json", "user-agent": mark };
    const sent = body && { body: JSON.stringify(body) };
    const answer = await httpCall(method, `${cell}${path}`, { headers, ...sent, withinMs: LIMIT_MS });
    if (answer === undefined) throw new Error(`no answer to ${method} ${path}, ${hint}`);
    const { status, text } = answer;
    return { status, json: text === "" ? undefined : JSON.parse(text) };
  }
  const stateAt = (cell: string) =>
    stateOf(async (path) => {
      const read = () => ask(cell, { method: "GET", path });
      // A cell whose Redis is late cannot know, and says so.
      const { status, json } = await until(`${path} can be read`, read, (answer) => answer.status !== 503);
      expect(status, JSON.stringify(json)).toBe(200);
      return json;
    }, orgId);

  test("acts of all rooms at all cells equal the order of the stream, and each is audited and told of once", async () => {
    const orders = new Orders(seededRandom(seed), orgId);
    const sent = new Map<string, Sent>();
    const act = async (cell: string, order: Order): Promise<void> => {
      let mark = "";
      // Where Redis is late it did not happen, or that is not known: it counts as not answered, and is asked for once more.
      const answer = await known(() => {
        mark = `act-${sent.size}`;
        sent.set(mark, order);
        return ask(cell, order, mark);
      });
      expect(answer.status, `${order.act}: ${JSON.stringify(answer.json)}, ${hint}`).toBeLessThan(500);
      sent.set(mark, { ...order, answer });
      if (answer.status === 201) orders.remember(order.act, answer.json);
    };
    for (const order of orders.first()) await act(cells[0] as string, order);
    let left = ACTS;
    const acting = cells.flatMap((cell) =>
      Array.from({ length: AT_ONCE }, async () => {
        while (left-- > 0) await act(cell, orders.next());
      }),
    );
    await Promise.all(acting);

    const checks = new RoomsChecks(sent, await auditedActs(link), hint);
    checks.check(await Promise.all(cells.map(stateAt)));
    const { refused, audited } = checks.figures;
    console.log(`${ACTS} acts at ${CELLS} cells, ${refused} refused, ${audited} audited, ${hint}`);
  });
});
