/** The extras of a body that translation wrote: the neutral contract has one, the tier. */
import type { Dialect, Endpoint } from "../../base/endpoint.ts";
import type { ClientRequest, Written } from "../format.ts";
import { type Ask, pointerOf } from "../neutral/asked-extras.ts";
import { isObject } from "../neutral/reader.ts";
import { tierAsks } from "./scan.ts";
import { type Billed, sift } from "./sift.ts";

interface Priced extends Written {
  readonly kept: readonly Ask[];
  readonly unpriced: readonly Ask[];
}

/** The body without a tier that the endpoint has no price for, named by its pointer in the client's own body. */
export function withoutUnpriced(
  written: Written,
  { extras }: Pick<ClientRequest, "extras">,
  { prices }: Endpoint,
  dialect: Dialect,
  billed: Billed,
): Priced {
  const { body, dropped } = written;
  const asks = isObject(body) ? tierAsks(dialect, body) : [];
  const { kept, dropped: unpriced } = sift(asks, prices, billed);
  if (unpriced.length === 0) return { body, dropped, kept, unpriced };
  const gone = unpriced.map(({ path }) => path[0]);
  const rest = Object.entries(body as object).filter(([name]) => !gone.includes(name));
  const own = extras.asks.find(({ aspect }) => aspect === "tier");
  const pointer = own === undefined ? "/service_tier" : pointerOf(own);
  return { body: Object.fromEntries(rest), dropped: [...dropped, pointer], kept, unpriced };
}

/** What of a client's extras a translation can carry. */
export const carriedAsks = (asks: readonly Ask[]): readonly Ask[] =>
  asks.filter(({ kind, aspect, name }) => kind === "tier" && aspect === "tier" && name !== "");
