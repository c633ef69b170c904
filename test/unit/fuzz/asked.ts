/** What clients asked, where answers are damaged: requests of every format that were read. */
import type { Random } from "../../../src/base/clock.ts";
import type { ClientRequest, FormatName } from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { requestSeeds } from "../../support/fuzz/seeds.ts";
import { pick } from "./mutations.ts";

/** Formats of generations. */
export const CLIENTS: readonly FormatName[] = ["chat", "completions", "responses", "messages", "generate"];

const requests = new Map<FormatName, readonly ClientRequest[]>();

/** One of a format's requests. */
export function requestOf(name: FormatName, random: Random): ClientRequest {
  const read =
    requests.get(name) ?? requestSeeds(name).map((text) => FORMATS[name].read(Buffer.from(text, "latin1")));
  requests.set(name, read);
  return pick(random, read);
}
