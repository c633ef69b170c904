/**
 * The `svc` member of answers as JSON text, put together by hand: it is written for every call, and its shape is ours. What an endpoint and a
 * price say of it is kept, so that a text is joined from few parts. Must stay what `JSON.stringify` would write.
 */
import type { Cost, CostLine } from "../base/money.ts";
import { latin1Json } from "./json/json.ts";
import { quotedId, quotedName } from "./json/quoted.ts";
import type { SvcReply } from "./neutral/contract.ts";

/** More endpoints, versions and prices than a catalog has; those beyond are written each time. */
const MOST = 10_000;

interface Place {
  readonly provider: string;
  readonly text: string;
}

/** By endpoint. */
const places = new Map<string, Place>();
/** Behind the lines of a cost, by version of prices; without warnings. */
const ends = new Map<string, string>();
/** Between units and cost of a line, by price. */
const prices = new Map<number, string>();

/** Stands in latin1 text. */
export function svcJson({ request_id, provider, endpoint_id, cost, warnings }: SvcReply): string {
  const said = warnings.length === 0 ? "[]" : latin1Json(warnings);
  const { total_micro_usd, lines, price_version } = cost;
  const known = places.get(endpoint_id);
  const place = known?.provider === provider ? known.text : placeOf(provider, endpoint_id);
  const start = `{"request_id":${quotedId(request_id)}${place}${total_micro_usd},"lines":[${linesOf(lines)}`;
  return said === "[]"
    ? start + (ends.get(price_version) ?? endOf(price_version))
    : `${start}],"price_version":${quotedName(price_version)}},"warnings":${said}}`;
}

function placeOf(provider: string, endpointId: string): string {
  const text = `,"provider":${quotedName(provider)},"endpoint_id":${quotedName(endpointId)},"cost":{"total_micro_usd":`;
  if (places.size < MOST) places.set(endpointId, { provider, text });
  return text;
}

function endOf(version: string): string {
  const text = `],"price_version":${quotedName(version)}},"warnings":[]}`;
  if (ends.size < MOST) ends.set(version, text);
  return text;
}

function priceOf(nano: number): string {
  const text = `,"unit_price_nano":${nano},"micro_usd":`;
  if (prices.size < MOST) prices.set(nano, text);
  return text;
}

function linesOf(lines: Cost["lines"]): string {
  let list = "";
  for (const line of lines) {
    const { kind, units, unit_price_nano, micro_usd, tool, tier } = line;
    const price = prices.get(unit_price_nano) ?? priceOf(unit_price_nano);
    const start = list === "" ? `{"kind":"${kind}","units":` : `${list},{"kind":"${kind}","units":`;
    list = `${start}${units}${price}${micro_usd}${tool === undefined && tier === undefined ? "" : extraOf(line)}}`;
  }
  return list;
}

const extraOf = ({ tool, tier }: CostLine): string =>
  (tool === undefined ? "" : `,"tool":${quotedName(tool)}`) +
  (tier === undefined ? "" : `,"tier":${quotedName(tier)}`);
