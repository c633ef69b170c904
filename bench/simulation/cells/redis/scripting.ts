/** Runs the product's scripts on a database: values go from Redis to Lua and back as Redis does it. */
import { compileScript } from "../lua/compile.ts";
import { LuaTable, type LuaValue, one, textOf } from "../lua/values.ts";
import { type CommandContext, OK, type Reply, run } from "./commands.ts";
import { RedisError } from "./database.ts";

type Compiled = ReturnType<typeof compileScript>;

const compiled = new Map<string, Compiled>();

function compiledOf(text: string): Compiled {
  let found = compiled.get(text);
  if (found === undefined) {
    found = compileScript(text);
    compiled.set(text, found);
  }
  return found;
}

/** @throws RedisError where the script says so, or where it fails as Redis would report it */
export function runScript(
  context: CommandContext,
  text: string,
  keys: readonly string[],
  args: readonly string[],
): Reply {
  const script = compiledOf(text);
  const call = (name: LuaValue, ...rest: LuaValue[]) => toLua(run(context, textOf(name), rest.map(argument)));
  const globals = {
    KEYS: new LuaTable([...keys]),
    ARGV: new LuaTable([...args]),
    redis: { call, error_reply: errorReply },
  };
  try {
    return toRedis(one(script(globals)));
  } catch (error) {
    if (error instanceof RedisError) throw error;
    // What a script wrote before its error stays, in Redis as here.
    throw new RedisError(`ERR ${(error as Error).message}`, { cause: error });
  }
}

function errorReply(text: LuaValue): LuaValue {
  const table = new LuaTable();
  table.set("err", textOf(text));
  return table;
}

/** Numbers reach commands as `%.17g` writes them. */
function argument(value: LuaValue): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value;
  throw new RedisError("ERR Lua redis() command arguments must be strings or integers");
}

function toLua(reply: Reply): LuaValue {
  if (reply === null) return false;
  if (reply === OK) {
    const table = new LuaTable();
    table.set("ok", "OK");
    return table;
  }
  return Array.isArray(reply) ? new LuaTable(reply.map(toLua)) : (reply as number | string);
}

function toRedis(value: LuaValue): Reply {
  if (typeof value === "number") return Math.trunc(value);
  if (typeof value === "string") return value;
  if (value === true) return 1;
  if (!(value instanceof LuaTable)) return null;
  const error = value.get("err");
  if (error !== undefined) throw new RedisError(textOf(error));
  if (value.get("ok") !== undefined) return OK;
  const end = value.list.indexOf(undefined);
  return (end < 0 ? value.list : value.list.slice(0, end)).map(toRedis);
}
