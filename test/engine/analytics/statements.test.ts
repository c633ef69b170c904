/** What an analyst's statement may say: by lists of what is allowed, over the engine's own tree. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  isFunction,
  OF_ROWS,
  ROW_SOURCES,
  TAKES_TABLE,
} from "../../../src/analytics/statements/analyst-functions.ts";
import {
  describingTables,
  isAddedColumn,
  readableTable,
} from "../../../src/analytics/statements/analyst-tables.ts";
import { amount } from "../../support/effort.ts";
import { CANARY, openSide, type Side } from "./isolation.fixtures.ts";
import { ANSWERED, FORGED, PLACES, PLANTED, REFUSED } from "./statements.fixtures.ts";

let side: Side;
beforeAll(async () => {
  side = await openSide(["org_a", "org_b"]);
  writeFileSync(join(side.folder, "clickhouse", PLANTED), CANARY);
});
afterAll(() => side.close());

const ask = (sql: string) => side.ask(sql, "&param_t=requests&param_n=5&param_a=[1]");

describe("S1: an analyst's statement is refused", () => {
  it("the planted file is one that the engine would read", async () => {
    const rows = await side.clickhouse.rows<{ x: string }>(`SELECT file('${PLANTED}') AS x`);
    expect(rows).toEqual([{ x: CANARY }]);
  });

  it.each(REFUSED)("with the name of what is not allowed, %s: %s", async (name, sql) => {
    const { status, text } = await ask(sql);
    expect(text).not.toContain(CANARY);
    expect(text).toMatch(/An analyst's statement is refused: /);
    expect(text).toContain(name);
    expect(status).toBe(403);
  });

  it.each(PLACES)("before anything in it is computed: %s", async (place) => {
    // A file that is not there: to compute the call would be another error.
    const { text } = await ask(place.replaceAll("%", "file('no-such-file')"));
    expect(text).toMatch(/An analyst's statement is refused: the function file is not allowed/);
  });

  it.each(FORGED)("whatever its names and patterns look like: %j", async (sql) => {
    const { text } = await ask(sql);
    expect(text).not.toContain(CANARY);
    expect(text).toMatch(/An analyst's statement is refused: /);
  });

  it("if its tree would be far larger than its text", async () => {
    const { text } = await ask(`SELECT ${"identity(".repeat(300)}${"1,".repeat(50_000)}1${")".repeat(300)}`);
    expect(text).toContain("too long for its depth");
  });

  it("for a format that writes how many rows were read, those of other orgs among them", async () => {
    const { text } = await side.ask("SELECT 1", "&default_format=JSONStringsEachRowWithProgress");
    expect(text).toContain("JSONStringsEachRowWithProgress is not allowed");
  });

  it("for a format of the URL that reads a schema from a file", async () => {
    expect((await side.ask("SELECT 1", "&default_format=Protobuf")).text).toContain(
      "Protobuf is not allowed",
    );
  });
});

describe("S1: an analyst's statement is answered", () => {
  it.each(ANSWERED)("%s", async (sql, answer) => {
    expect((await ask(sql)).text).toBe(answer);
  });

  it.each(PLACES)("with an allowed function in every place: %s", async (place) => {
    const { text } = await ask(place.replaceAll("%", "concat('a')"));
    expect(text).not.toContain("is refused");
  });
});

describe("S1: the lists of what is allowed", () => {
  const rows = <T>(sql: string) => side.clickhouse.rows<T>(sql);

  it("name no function that the engine has not, and none by a name that another one has in other letters", async () => {
    const functions = await rows<{ name: string; is_aggregate: number }>(
      "SELECT name, is_aggregate FROM system.functions",
    );
    const source = readFileSync(
      new URL("../../../src/analytics/statements/analyst-functions.ts", import.meta.url),
      "utf8",
    );
    const listed = [...source.matchAll(/= names\(`([^`]+)`\)/g)].flatMap(([, text = ""]) =>
      text.trim().split(/\s+/),
    );
    const known = new Set(functions.map(({ name }) => name));
    const combinators = await rows<{ name: string }>(
      "SELECT name FROM system.aggregate_function_combinators",
    );
    for (const { name } of combinators) known.add(name);
    expect(listed.filter((name) => !known.has(name))).toEqual(["exists", "grouping", "untuple"]);
    const lists = new Set(listed);
    const byOtherLetters = functions.filter(({ name }) => isFunction(name) && !lists.has(name));
    expect(byOtherLetters).toEqual([]);
  });

  it("name every function that may be given a table", async () => {
    const takes = async (name: string) => {
      const given = await side.clickhouse.rows(`SELECT ${name}(1, weir.ledger)`).then(() => "", String);
      return !/Unknown expression|Unknown aggregate|Syntax error/.test(given);
    };
    const functions = await rows<{ name: string }>(
      "SELECT name FROM system.functions WHERE NOT is_aggregate ORDER BY name",
    );
    const step = amount(1, 25);
    const asked = functions.filter(({ name }, at) => at % step === 0 || TAKES_TABLE.has(name.toLowerCase()));
    const found = [];
    for (const { name } of asked) if (isFunction(name) && (await takes(name))) found.push(name);
    expect(found.map((name) => name.toLowerCase())).toEqual([...TAKES_TABLE].sort());
  });

  it("leave out what reads files, dictionaries, other tables, the network or the machine", async () => {
    const groups = ["AI", "Dictionary", "Embedded Dictionary", "Introspection", "Machine Learning"];
    const some = await rows<{ name: string }>(
      `SELECT name FROM system.functions WHERE NOT is_aggregate AND categories IN ('${groups.join("','")}')`,
    );
    expect(some.length).toBeGreaterThan(50);
    const others = [
      "file",
      "joinGet",
      "joinGetOrNull",
      "hasColumnInTable",
      "getServerSetting",
      "getMacro",
      "hostName",
    ];
    for (const name of [...some.map((row) => row.name), ...others])
      expect(isFunction(name), name).toBe(false);
  });

  it("are those of the documentation: tables and row sources", () => {
    const doc = readFileSync(new URL("../../../docs/analytics.md", import.meta.url), "utf8");
    const section = /### What a statement may say\n([\s\S]+?)\n### /.exec(doc)?.[1] ?? "";
    const row = (title: string) => new RegExp(`^\\| ${title} \\| (.+) \\|$`, "m").exec(section)?.[1] ?? "";
    const tables = row("tables of the engine").split("Sizes")[0]?.split("`information_schema`") ?? [];
    const named = ["system", "information_schema"].flatMap((database, at) =>
      [...(tables[at] ?? "").replace("`system`", "").matchAll(/`(\w+)`/g)].map(
        ([, name]) => `${database}.${name}`,
      ),
    );
    expect(named.sort()).toEqual([...describingTables()].sort());
    const sources = [...row("table functions").matchAll(/`(\w+)`/g)].map(([, name = ""]) =>
      name.toLowerCase(),
    );
    expect([...sources, "generate_series", "sqlstandardvalues"].sort()).toEqual(
      [...ROW_SOURCES, ...OF_ROWS].sort(),
    );
  });

  it("know every column that the engine adds to a table without its definition", async () => {
    const columns = await rows<{ name: string }>(
      "DESCRIBE TABLE requests SETTINGS describe_include_virtual_columns = 1",
    );
    const defined = await rows<{ name: string }>("DESCRIBE TABLE requests");
    const added = columns.map(({ name }) => name).slice(defined.length);
    expect(added).toContain("_part_offset");
    expect(added.filter((name) => !isAddedColumn(name))).toEqual([]);
  });

  it("know all columns of the tables that describe tables, so that a new one of sizes is not read unseen", async () => {
    const columns = await rows<{ table: string; name: string }>(
      "SELECT concat(database, '.', table) AS table, name FROM system.columns WHERE database IN ('system', 'information_schema')",
    );
    for (const table of describingTables()) {
      const of = columns.filter((column) => column.table === table).map(({ name }) => name);
      expect(of, table).not.toEqual([]);
      const hidden = readableTable(table)?.hidden ?? [];
      expect(of, table).toEqual(expect.arrayContaining([...hidden]));
      const tells = of.filter(
        (name) =>
          /rows|bytes|size|parts|marks|length|active/i.test(name) && !/character_|supports_|[A-Z]/.test(name),
      );
      expect(
        tells.filter((name) => !hidden.includes(name)),
        table,
      ).toEqual([]);
    }
  });
});
