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

/** By endpoint: between the request's id and the total. */
const places = new Map<string, Place>();
/** Behind the last line of a cost, by version of prices; without warnings. */
const ends = new Map<string, string>();
/** Between units and cost of a line, by price. */
const prices = new Map<number, string>();
/** Before the units of a first line, by its kind, and before those of a later one. */
const firstStarts = new Map<string, string>();
const laterStarts = new Map<string, string>();

/** Stands in latin1 text. */
export function svcJson({ request_id, provider, endpoint_id, cost, warnings }: SvcReply): string {
  const { total_micro_usd, lines, price_version } = cost;
  const known = places.get(endpoint_id);
  const place = known?.provider === provider ? known.text : placeOf(provider, endpoint_id);
  const start = START + quotedId(request_id) + place + total_micro_usd + LINES + linesOf(lines);
  return warnings.length === 0
    ? start + (ends.get(price_version) ?? endOf(price_version))
    : `${start}],"price_version":${quotedName(price_version)}},"warnings":${latin1Json(warnings)}}`;
}

const START = '{"request_id":';
const LINES = ',"lines":[';

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

/** There are few kinds. */
function startOf(starts: Map<string, string>, kind: string): string {
  const text = `${starts === firstStarts ? "" : "},"}{"kind":"${kind}","units":`;
  starts.set(kind, text);
  return text;
}

function linesOf(lines: Cost["lines"]): string {
  let list = "";
  for (const line of lines) {
    const { kind, units, unit_price_nano, micro_usd, tool, tier } = line;
    const starts = list === "" ? firstStarts : laterStarts;
    const start = starts.get(kind) ?? startOf(starts, kind);
    const price = prices.get(unit_price_nano) ?? priceOf(unit_price_nano);
    list += start + units + price + micro_usd;
    if (tool !== undefined || tier !== undefined) list += extraOf(line);
  }
  return list === "" ? "" : `${list}}`;
}

const extraOf = ({ tool, tier }: CostLine): string =>
  (tool === undefined ? "" : `,"tool":${quotedName(tool)}`) +
  (tier === undefined ? "" : `,"tier":${quotedName(tier)}`);
