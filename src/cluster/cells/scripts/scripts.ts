/** The scripts that run inside Redis, read once from this folder. */
import { readdirSync, readFileSync } from "node:fs";
import { Script } from "../redis/redis.ts";

const FOLDER = new URL("./", import.meta.url);

const read = (name: string): string => readFileSync(new URL(name, FOLDER), "utf8");

/** Files of a folder, joined in the order of their names. */
const joined = (folder: string): string =>
  readdirSync(new URL(folder, FOLDER))
    .filter((name) => name.endsWith(".lua"))
    .sort()
    .map((name) => read(`${folder}${name}`))
    .join("\n");

export const SCRIPTS = {
  alive: new Script(read("alive.lua")),
  clock: new Script(read("clock.lua")),
  create: new Script(read("create.lua")),
  fill: new Script(read("fill.lua")),
  open: new Script(read("open.lua")),
  enter: new Script(read("enter.lua")),
  page: new Script(read("page.lua")),
  call: new Script(read("call.lua")),
  look: new Script(read("look.lua")),
  retire: new Script(read("retire.lua")),
  cells: new Script(read("cells.lua")),
  restored: new Script(read("restored.lua")),
  exchange: new Script(joined("exchange/")),
} as const;
