/** Reads a provider's bill without holding up other work: a piece at a time. */
import { CsvError, parse } from "csv-parse";
import { nextTurn } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import { jsonIn } from "../../base/json.ts";
import { type BillFormat, type BillLine, type Column, columnsOf, jsonLines, lineOf } from "./formats.ts";
import { wrong } from "./values.ts";

export const MOST_LINES = 100_000;
/** JSON is parsed in one go, some milliseconds a megabyte. */
export const MOST_JSON_CHARACTERS = 2 * 1024 * 1024;
const PIECE_CHARACTERS = 16 * 1024;
const LINES_A_TURN = 500;
const MOST_COLUMNS = 40;
/** Characters of a record, without its commas and quotes. */
const MOST_RECORD = 20_000;
/** Characters of a record with them: one of commas alone has no others, and is a list of as many cells. */
const MOST_LINE = 3 * MOST_RECORD;

/** @throws WeirError 400 that names line and column */
export async function* readCsv(format: BillFormat, text: string): AsyncGenerator<BillLine> {
  const parser = parse({
    bom: true,
    info: true,
    skip_empty_lines: true,
    trim: true,
    max_record_size: MOST_RECORD,
  });
  let columns: readonly Column[] | undefined;
  let lines = 0;
  try {
    for await (const { record, info } of recordsOf(parser, text)) {
      if (columns === undefined) {
        if (record.length > MOST_COLUMNS)
          throw wrong({ line: 1, column: String(MOST_COLUMNS + 1) }, "too many columns");
        columns = columnsOf(format, record);
        continue;
      }
      if (++lines > MOST_LINES) throw tooMany();
      yield lineOf(columns, record, info.lines);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === "number" ? error.lines : lines + 1;
    throw wrong({ line, column: "all" }, `this is not CSV (${error.code})`);
  } finally {
    parser.destroy();
  }
  if (columns === undefined) throw wrong({ line: 1, column: "all" }, "the file is empty");
}

interface CsvRecord {
  readonly record: string[];
  readonly info: { readonly lines: number };
}

const QUOTE = 34;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * How long the records of a text are. They are told apart as the parser does it: a quote opens or closes a cell's text (anywhere
 * else the parser refuses it), and the first line end outside of such a text is that of all records.
 */
class RecordLengths {
  readonly #text: string;
  #at = 0;
  #line = 1;
  #length = 0;
  #isQuoted = false;
  #end: string | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads on up to there. @throws WeirError 400 */
  check(until: number): void {
    const text = this.#text;
    for (; this.#at < until; this.#at++) {
      const c = text.charCodeAt(this.#at);
      if (c === QUOTE) this.#isQuoted = !this.#isQuoted;
      else if (c === LINE_FEED || c === CARRIAGE_RETURN) this.#lineEnd(c);
      if (++this.#length > MOST_LINE)
        throw wrong({ line: this.#line, column: "all" }, "the line is too long");
    }
  }

  #lineEnd(c: number): void {
    const text = this.#text;
    const isTwo = c === CARRIAGE_RETURN && text.charCodeAt(this.#at + 1) === LINE_FEED;
    if (!isTwo) this.#line++;
    if (this.#isQuoted) return;
    this.#end ??= isTwo ? "\r\n" : String.fromCharCode(c);
    if (text.startsWith(this.#end, this.#at)) this.#length = 0;
  }
}

async function* recordsOf(parser: ReturnType<typeof parse>, text: string): AsyncGenerator<CsvRecord> {
  let failure: Error | undefined;
  parser.on("error", (error) => {
    failure = error;
  });
  const lengths = new RecordLengths(text);
  for (let at = 0; at < text.length; at += PIECE_CHARACTERS) {
    lengths.check(Math.min(text.length, at + PIECE_CHARACTERS));
    parser.write(text.slice(at, at + PIECE_CHARACTERS));
    if (at + PIECE_CHARACTERS >= text.length) parser.end();
    await nextTurn();
    for (let record = parser.read(); record !== null; record = parser.read()) yield record;
    if (failure !== undefined) throw failure;
  }
  if (text.length === 0) parser.end();
  const mostTurns = 100 + text.length / PIECE_CHARACTERS;
  for (let turn = 0; turn < mostTurns; turn++) {
    await nextTurn();
    for (let record = parser.read(); record !== null; record = parser.read()) yield record;
    if (failure !== undefined) throw failure;
    if (parser.readableEnded) return;
  }
  throw new Error("the reading of a bill did not end");
}

/** @throws WeirError 400 that names line and member */
export async function* readJson(format: BillFormat, text: string): AsyncGenerator<BillLine> {
  if (text.length > MOST_JSON_CHARACTERS)
    throw fail("invalid_value", `At most ${MOST_JSON_CHARACTERS} characters of JSON at once.`, {
      param: "/json",
    });
  const value = jsonIn(text);
  if (value === undefined) throw fail("invalid_value", "It is not JSON.", { param: "/json" });
  let lines = 0;
  for (const line of jsonLines(format, value)) {
    if (++lines > MOST_LINES) throw tooMany();
    if (lines % LINES_A_TURN === 0) await nextTurn();
    yield line;
  }
}

const tooMany = () => fail("invalid_value", `At most ${MOST_LINES} lines at once: send the days in parts.`);
