/**
 * Texts of types (`CAST(x, 'Array(UInt8)')`, `{p:String}`), which the engine parses. Only types of plain data: states of
 * aggregate functions would be read from bytes that the analyst makes up, and their parameters are expressions.
 * Format: https://clickhouse.com/docs/sql-reference/data-types
 */

const names = (text: string): ReadonlySet<string> => new Set(text.trim().toLowerCase().split(/\s+/));

/** Types, and words of types, that stand without brackets. */
const WORDS = names(`
  Bool Boolean Bit Byte Bytea Date Date32 DateTime DateTime32 DateTime64 Time Time64 Timestamp Year
  String Char Character Varchar Varchar2 NVarchar NChar National Varying Text TinyText MediumText LongText Clob Large Object
  Blob TinyBlob MediumBlob LongBlob Binary VarBinary Fixed
  UInt8 UInt16 UInt32 UInt64 UInt128 UInt256 Int8 Int16 Int32 Int64 Int128 Int256
  TinyInt SmallInt MediumInt Int Int1 Integer BigInt Signed Unsigned Float32 Float64 BFloat16 Float Single Real Double Precision
  Decimal Dec Numeric UUID IPv4 IPv6 INET4 INET6 JSON Dynamic Nothing
  IntervalNanosecond IntervalMicrosecond IntervalMillisecond IntervalSecond IntervalMinute IntervalHour
  IntervalDay IntervalWeek IntervalMonth IntervalQuarter IntervalYear
`);

/** Types that take arguments: types, named types, numbers or texts. */
const WITH_ARGUMENTS = names(`
  Array Tuple Map Nullable LowCardinality Variant Dynamic JSON
  FixedString Decimal Decimal32 Decimal64 Decimal128 Decimal256 Dec Numeric Fixed
  Enum Enum8 Enum16 DateTime DateTime32 DateTime64 Time Time64 Timestamp
  Char Character Varchar Varchar2 NVarchar NChar Varying Binary VarBinary Float Double Int Integer BigInt SmallInt TinyInt
`);

const TOKEN = /\s+|[A-Za-z_]\w*|-?\d[\w.]*|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|[(),=.]/gsy;

/** @returns the first word of the text that is not allowed in a type; undefined if there is none */
export function forbiddenInType(text: string): string | undefined {
  const found = text.match(TOKEN) ?? [];
  const read = found.join("");
  if (read !== text) return text.slice(read.length, read.length + 20);
  const tokens = found.filter((token) => token.trim() !== "");
  for (const [at, token] of tokens.entries()) {
    if (!/^[A-Za-z_]/.test(token)) {
      // What is called has a name, and the name of a type.
      if (tokens[at + 1] === "(") return token;
      continue;
    }
    const known = tokens[at + 1] === "(" ? WITH_ARGUMENTS : WORDS;
    if (!known.has(token.toLowerCase()) && !isName(tokens, at)) return token;
  }
  return undefined;
}

/** Whether the word names a member of a tuple or a path of JSON, or is a clause of JSON. */
function isName(tokens: readonly string[], at: number): boolean {
  const [before = "", after = ""] = [tokens[at - 1], tokens[at + 1]];
  return /^[\w`=.']/.test(after) || /^(?:SKIP|REGEXP|\.)$/i.test(before);
}
