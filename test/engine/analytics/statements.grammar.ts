/**
 * Statements at random, over the engine's own lists of functions, combinators, table functions and formats: what reads a file
 * is put wherever an expression, a name, or a text that the engine might evaluate can stand. The same for the same random.
 */
import { isFunction } from "../../../src/analytics/statements/analyst-functions.ts";
import type { Random } from "../../../src/base/clock.ts";
import { FORGED, PLACES } from "./statements.fixtures.ts";

/** As the engine tells them. */
export interface Vocabulary {
  readonly functions: readonly string[];
  readonly aggregates: readonly string[];
  readonly combinators: readonly string[];
  readonly tableFunctions: readonly string[];
  readonly formats: readonly string[];
  readonly tables: readonly string[];
}

export interface Planted {
  /** Paths of files with a secret, as the engine may open them. */
  readonly paths: readonly string[];
  readonly otherOrg: string;
  readonly port: number;
}

export class Grammar {
  readonly #words: Vocabulary;
  readonly #planted: Planted;
  readonly #allowed: readonly string[];
  #random: Random = () => 0;
  /** Part of one statement's functions that is taken from all of the engine's. */
  #wild = 0;

  constructor(words: Vocabulary, planted: Planted) {
    this.#words = words;
    this.#planted = planted;
    this.#allowed = words.functions.filter(isFunction);
  }

  statement(random: Random): string {
    this.#random = random;
    // Most have nothing but what is allowed by name, so that they pass and run; what they hide is in their texts and places.
    this.#wild = this.#pick([0, 0, 0, 0.15, 0.5]);
    const sql = this.#pick([
      () => this.#pick(PLACES).replaceAll("%", () => this.#text()),
      () => this.#pick(PLACES).replaceAll("%", () => this.#text()),
      () => `SELECT ${this.#list(() => this.#expression(3))} FROM ${this.#source()} LIMIT 3`,
      () => `SELECT ${this.#list(() => this.#columns())} FROM ${this.#source()} LIMIT 3`,
      () => this.#whole(),
      () => this.#pick(FORGED),
    ])();
    return this.#wrapped(sql);
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }

  #is(share: number): boolean {
    return this.#random() < share;
  }

  #list(one: () => string, most = 3): string {
    return Array.from({ length: 1 + Math.floor(this.#random() * most) }, one).join(", ");
  }

  #wrapped(sql: string): string {
    return this.#pick([
      ...Array.from({ length: 8 }, () => () => sql),
      () => `SELECT * FROM (${sql})`,
      () => `SELECT (SELECT count() FROM (${sql}))`,
      () => `WITH c AS (${sql}) SELECT * FROM c`,
      () => `WITH c AS (${sql}) SELECT 1 IN c`,
      () => `${sql} UNION ALL ${sql}`,
      () => `SELECT 1 WHERE EXISTS(${sql})`,
      () => `${sql} FORMAT ${this.#pick(this.#words.formats)}`,
      () => `${sql} SETTINGS max_threads = 1`,
      () => `DESCRIBE (${sql})`,
      () => `EXPLAIN ${this.#pick(["", "QUERY TREE", "ESTIMATE", "SYNTAX"])} ${sql}`,
    ])();
  }

  /** A SELECT with every clause that may be there. */
  #whole(): string {
    const maybe = (clause: () => string) => (this.#is(0.3) ? ` ${clause()}` : "");
    const e = () => this.#expression(2);
    return [
      this.#is(0.2) ? `WITH ${this.#list(() => `${e()} AS w${Math.floor(this.#random() * 3)}`)} ` : "",
      `SELECT ${this.#list(() => (this.#is(0.5) ? this.#aggregate() : this.#columns()))}`,
      ` FROM ${this.#source()}`,
      maybe(() => `${this.#pick(["", "LEFT "])}ARRAY JOIN [${e()}] AS aj`),
      maybe(
        () => `${this.#pick(["CROSS JOIN", "PASTE JOIN", "INNER JOIN", "ASOF JOIN"])} ${this.#source()} AS j`,
      ),
      maybe(() => `PREWHERE ${e()}`),
      maybe(() => `WHERE ${e()}`),
      maybe(
        () => `GROUP BY ${this.#pick([e(), "ALL", `GROUPING SETS ((${e()}), ())`, `${e()} WITH ROLLUP`])}`,
      ),
      maybe(() => `HAVING ${this.#aggregate()} = ${e()}`),
      maybe(() => `QUALIFY ${this.#window()} = 1`),
      maybe(() => `ORDER BY ${this.#pick([e(), "ALL", `1 WITH FILL TO ${e()} INTERPOLATE (a AS ${e()})`])}`),
      maybe(() => `LIMIT 2 BY ${e()}`),
      ` LIMIT ${this.#pick(["3", "3", "3", `least(3, length(${e()}))`])}`,
    ].join("");
  }

  #columns(): string {
    const e = () => this.#expression(2);
    const all = this.#pick(["*", "COLUMNS('.*')", "COLUMNS('a|d|x|number')", "t.*"]);
    return this.#pick([
      () => `${all} APPLY(${this.#name()})`,
      () => `${all} APPLY(${this.#name()}(${this.#literal()}))`,
      () => `${all} APPLY(x -> ${this.#call(() => this.#pick(["x", this.#literal()]), 1)})`,
      () => `${all} REPLACE (${e()} AS ${this.#pick(["dummy", "x", "number", "org_id"])})`,
      () => `${all} EXCEPT (dummy) APPLY(toString) REPLACE (${e()} AS x)`,
      () => `${this.#call(() => all, 1)}`,
      () => this.#window(),
      e,
    ])();
  }

  #window(): string {
    const frame = this.#pick(["", ` ROWS BETWEEN length(${this.#text()}) PRECEDING AND CURRENT ROW`]);
    return `${this.#aggregate()} OVER (PARTITION BY ${this.#expression(1)} ORDER BY ${this.#expression(1)}${frame})`;
  }

  /** What a statement reads from, always with the alias `t`. */
  #source(): string {
    return this.#pick([
      () => "system.one AS t",
      () => `(SELECT ${this.#pathText()} AS x, 1 AS a) AS t`,
      () => `(SELECT ${this.#expression(2)} AS x) AS t`,
      () => `${this.#pick(this.#words.tables)} AS t`,
      () => `${this.#pick(["requests", "payloads", "ledger", "attempts", "shadow_runs"])} AS t`,
      () =>
        `${this.#pick(["numbers", "zeros", "generateSeries"])}(${this.#pick(["3", "1, 3", "length('abc')"])}) AS t`,
      () => `VALUES ((${this.#literal()}, ${this.#literal()}), (${this.#expression(1)}, 1)) AS t`,
      () => `${this.#pick(this.#words.tableFunctions)}(${this.#list(() => this.#literal())}) AS t`,
      () => `values(${this.#structure()}, ('a')) AS t`,
      () => `format('CSV', ${this.#structure()}, 'a') AS t`,
      () => `view(SELECT ${this.#text()} AS x) AS t`,
    ])();
  }

  /** A function's name as it may be given to another. */
  #name(): string {
    if (this.#is(this.#wild)) {
      return this.#pick([
        () => "file",
        () => "`file`",
        () => "FILE",
        () => this.#pick(this.#words.functions),
      ])();
    }
    return this.#is(0.2) ? this.#combined() : this.#pick(this.#allowed);
  }

  #combined(): string {
    const ends = Array.from({ length: Math.floor(this.#random() * 3) }, () =>
      this.#pick(this.#words.combinators),
    );
    return this.#pick(this.#words.aggregates) + ends.join("");
  }

  #aggregate(): string {
    const parameters = this.#is(0.3) ? `(${this.#pick(["0.5", "3", `length(${this.#text()})`])})` : "";
    return `${this.#combined()}${parameters}(${this.#list(() => this.#expression(1), 2)})`;
  }

  #call(argument: () => string, most = 3): string {
    return `${this.#name()}(${this.#list(argument, most)})`;
  }

  /** An expression whose value is a text, if it is one: what it is of may be a file. */
  #text(): string {
    return this.#pick([
      () => this.#call(() => this.#pathText(), 1),
      () => `concat(${this.#list(() => this.#pathText())})`,
      () => `arrayMap(${this.#name()}, [${this.#pathText()}])[1]`,
      () => `toString(${this.#expression(2)})`,
      () => `arrayStringConcat(arrayMap(x -> ${this.#call(() => "x", 1)}, [${this.#pathText()}]))`,
      () => `(SELECT ${this.#name()}(${this.#pathText()}))`,
      () =>
        `toString(${this.#pick(["arrayReduce", "arrayReduceInRanges"])}(${this.#aggregateText()}, [${this.#pick(["1", "(1, 1)"])}]))`,
      () => `CAST(${this.#pathText()}, ${this.#type()})`,
    ])();
  }

  #expression(depth: number): string {
    if (depth === 0)
      return this.#pick([this.#literal(), this.#literal(), "x", "dummy", "org_id", "number", "a"]);
    const e = () => this.#expression(depth - 1);
    return this.#pick([
      e,
      () => this.#call(e),
      () => this.#call(() => this.#literal()),
      () => this.#call(() => this.#pathText(), 1),
      () => `arrayMap(${this.#name()}, [${e()}])`,
      () => `arrayMap(${this.#name()}, [${this.#pathText()}])`,
      () =>
        `${this.#pick(["arrayFilter", "arrayExists", "arraySort", "arrayFold"])}((x) -> ${this.#call(() => "x", 1)}, [${e()}])`,
      () => `mapApply(${this.#name()}, map(${this.#pathText()}, ''))`,
      () => `${this.#pick(["arrayReduce", "arrayReduceInRanges"])}(${this.#aggregateText()}, [${e()}])`,
      () => `initializeAggregation(${this.#aggregateText()}, 1)`,
      () => `${this.#pick(["CAST", "accurateCastOrNull", "reinterpret", "_CAST"])}(${e()}, ${this.#type()})`,
      () => `JSONExtract(${this.#literal()}, ${this.#type()})`,
      () => `${e()} ${this.#pick(["IN", "NOT IN", "GLOBAL IN"])} ${this.#set()}`,
      () => `if(${e()} = ${e()}, ${e()}, ${e()})`,
      () => `[${e()}]`,
      () => `(${e()}, ${e()})`,
      () => `(SELECT ${e()})`,
      () => `${e()} AS ${this.#pick(["x", "file", "`a, b`", "`c: d`", "v"])}`,
    ])();
  }

  #set(): string {
    return this.#pick([
      () => `(SELECT ${this.#expression(1)})`,
      () => `(${this.#list(() => this.#expression(1))})`,
      () => this.#pick([...this.#words.tables, "migrations", "x", "file"]),
      () => `file(${this.#pathText()})`,
      () => `${this.#pick(this.#words.tableFunctions)}(${this.#pathText()})`,
      () => this.#pathText(),
    ])();
  }

  #literal(): string {
    return this.#pick([
      () => this.#pathText(),
      () => this.#pathText(),
      () => this.#structure(),
      () => this.#type(),
      () => this.#aggregateText(),
      () =>
        this.#pick([
          "0",
          "1",
          "-1",
          "3",
          "255",
          "0.5",
          "NULL",
          "true",
          "[]",
          "[1, 2]",
          "(1, 'a')",
          "map('a', 1)",
        ]),
      () => quoted(this.#planted.otherOrg),
      () => quoted(`SELECT file('${this.#pick(this.#planted.paths)}')`),
      () => quoted(`http://127.0.0.1:${this.#planted.port}/x`),
      () => quoted(`{"a": "${this.#pick(this.#planted.paths)}"}`),
      () => quoted(this.#pick([...this.#words.formats, ...this.#words.tables])),
      () => quoted(this.#pick(["a", ".*", "%", "UTC", "day", "2026-11-01", "a\nb", "\n  CONSTANT id: 3"])),
      () => `[${this.#pathText()}]`,
      () => "toDateTime('2026-11-01 00:00:00', 'UTC')",
      () => "now()",
    ])();
  }

  #pathText(): string {
    return quoted(this.#pick(this.#planted.paths));
  }

  #reading(): string {
    const path = quoted(this.#pick(this.#planted.paths));
    return this.#pick([
      `file(${path})`,
      `length(file(${path}))`,
      `arrayMap(file, [${path}])[1]`,
      `(SELECT file(${path}))`,
    ]);
  }

  #structure(): string {
    const kind = this.#pick(["ALIAS", "DEFAULT", "MATERIALIZED", "EPHEMERAL", "TTL"]);
    return quoted(
      this.#pick([
        `x String, y String ${kind} ${this.#reading()}`,
        "x String",
        `x Array(String), y ${kind} ${this.#reading()}`,
      ]),
    );
  }

  #type(): string {
    const computed = this.#pick([this.#reading(), "3"]);
    return quoted(
      this.#pick([
        "UInt8",
        "String",
        "Nullable(String)",
        "Array(String)",
        "Tuple(a String)",
        "JSON",
        "DateTime64(3, 'UTC')",
        `FixedString(${computed})`,
        `Decimal(${computed}, 2)`,
        `Enum8('a' = ${computed})`,
        `AggregateFunction(topK(${computed}), UInt8)`,
        `SimpleAggregateFunction(sum, UInt64)`,

        `DateTime64(${computed}, 'UTC')`,
        `JSON(max_dynamic_paths = ${computed})`,
        `Dynamic(max_types = ${computed})`,
        `Tuple(a String DEFAULT ${computed})`,
        `Nested(a AggregateFunction(topK(${computed}), UInt8))`,
      ]),
    );
  }

  #aggregateText(): string {
    const reading = this.#reading();
    return quoted(
      this.#pick([
        "sum",
        "quantile(0.5)",
        "sumIf",
        `topK(${reading})`,
        `topK(length(${reading}))`,
        `groupArray(length(${reading}))`,
        `${this.#combined()}(${this.#pick([reading, "3"])})`,
      ]),
    );
  }
}

const quoted = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n")}'`;
