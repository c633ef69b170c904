/**
 * The `svc` member of answers as JSON text, put together by hand: it is written for every call, and its shape is ours.
 * Must stay what `JSON.stringify` would write.
 */
import type { Cost } from "../base/money.ts";
import { latin1Json } from "./json/json.ts";
import { quotedId, quotedName } from "./json/quoted.ts";
import type { SvcReply } from "./neutral/contract.ts";

/** Stands in latin1 text. */
export const svcJson = ({ request_id, provider, endpoint_id, cost, warnings }: SvcReply): string =>
  `{"request_id":${quotedId(request_id)},"provider":${quotedName(provider)},"endpoint_id":${quotedName(endpoint_id)},` +
  `"cost":${costJson(cost)},"warnings":${warnings.length === 0 ? "[]" : latin1Json(warnings)}}`;

function costJson({ total_micro_usd, lines, price_version }: Cost): string {
  let list = "";
  for (const { kind, units, unit_price_nano, micro_usd, tool, tier } of lines) {
    const extra =
      (tool === undefined ? "" : `,"tool":${quotedName(tool)}`) +
      (tier === undefined ? "" : `,"tier":${quotedName(tier)}`);
    const line = `{"kind":"${kind}","units":${units},"unit_price_nano":${unit_price_nano},"micro_usd":${micro_usd}${extra}}`;
    list += list === "" ? line : `,${line}`;
  }
  return `{"total_micro_usd":${total_micro_usd},"lines":[${list}],"price_version":${quotedName(price_version)}}`;
}
