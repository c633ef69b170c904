import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ORG_TABLES, ORG_VIEWS } from "../../../src/analytics/statements/engine-access.ts";
import { seededRandom } from "../../../src/base/clock.ts";
import { amount } from "../../support/effort.ts";
import { CANARY, files, OPERATOR, openSide, openTrap, type Side } from "./isolation.fixtures.ts";
import { generated } from "./isolation.queries.ts";

const QUERIES = amount(2000, 300);

let alone: Side;
let together: Side;
let trap: Awaited<ReturnType<typeof openTrap>>;
const planted = files();

beforeAll(async () => {
  trap = await openTrap();
  alone = await openSide(["org_a"]);
  together = await openSide(["org_a", "org_b"]);
});
afterAll(async () => {
  await alone.close();
  await together.close();
  trap.server.close();
  planted.remove();
});

const sorted = (text: string) => text.split("\n").sort().join("\n");
/** What differs between two engines for other reasons than their rows. */
const plain = (text: string) =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uuid>")
    .replace(/weir-isolation-\w+/g, "<folder>")
    .replace(/__table\d+/g, "<table>");

const counts = (side: Side) =>
  side.clickhouse.rows(
    "SELECT (SELECT count() FROM requests) AS r, (SELECT count() FROM payloads) AS p, (SELECT count() FROM system.tables WHERE database NOT IN ('system')) AS t",
  );

describe("an analyst of one org", () => {
  it("is answered the same whether or not another org's rows are there, for any statement", async () => {
    const before = await counts(together);
    const statements = generated(QUERIES, seededRandom(15), { ...planted, port: trap.port });
    let answered = 0;
    const wrong: string[] = [];
    for (const sql of statements) {
      const more = "&param_t=requests&param_p=requests";
      const [a, b] = await Promise.all([alone.ask(sql, more), together.ask(sql, more)]);
      if (a.status === 200) answered++;
      const isSame = a.status === b.status && plain(sorted(a.text)) === plain(sorted(b.text));
      const said = `${a.text}${b.text}`.replaceAll(sql, "");
      if (!isSame || (b.status === 200 && said.includes(CANARY)) || /root:.*:0:0/.test(said)) {
        wrong.push(`${sql}\n  ${a.text.slice(0, 300)}\n  ${b.text.slice(0, 300)}`);
      }
    }
    expect(wrong).toEqual([]);
    // Statements that are all refused would show nothing.
    expect(answered).toBeGreaterThan(QUERIES / 10);
    expect(await counts(together)).toEqual(before);
    expect(trap.connections()).toBe(0);
    expect(planted.isWritten()).toBe(false);
  });

  it.each([...ORG_TABLES, ...ORG_VIEWS])("reads the rows of its own org in `%s`", async (table) => {
    const { text } = await together.ask(`SELECT org_id, count() > 0 FROM ${table} GROUP BY org_id`);
    expect(text).toBe("org_a\t1\n");
  });

  it("sees figures over all orgs only where it is of all orgs", async () => {
    const sql = "SELECT uniqExact(org_id), (SELECT count() > 0 FROM attempts_hourly) FROM requests";
    expect((await together.ask(sql)).text).toBe("1\t0\n");
    expect((await together.ask(sql, "", OPERATOR)).text).toBe("2\t1\n");
  });

  it("may bind parameters as values, not as names", async () => {
    const bound = await together.ask(
      "SELECT count() FROM requests WHERE org_id = {o:String}",
      "&param_o=org_a",
    );
    expect(bound.text).toBe("200\n");
    const escaped = await together.ask("SELECT\n\tlength('a\\\\b\\n'), {q:String}", "&param_q=c");
    expect(escaped.text).toBe("4\tc\n");
    const named = await together.ask("SELECT * FROM {t:Identifier}", "&param_t=requests");
    expect(named.status).toBe(403);
  });

  it("cannot raise a limit by the URL", async () => {
    const sql = "SELECT getSetting('max_execution_time'), getSetting('log_comment'), getSetting('readonly')";
    const more = "&max_execution_time=9999&log_comment=org_b&readonly=0";
    expect((await together.ask(sql, more)).text).toBe("60\torg_a\t1\n");
  });

  it("is refused a result beyond its rows, and a wrong password", async () => {
    expect((await together.ask("SELECT number FROM numbers(2000000) FORMAT JSON")).text).toContain(
      "Code: 396",
    );
    const { status } = await together.ask("SELECT 1", "", { username: OPERATOR.username, password: "x" });
    expect(status).toBe(403);
  });
});
