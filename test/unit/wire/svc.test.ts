/** The `svc` member, put together by hand: as JSON.stringify would, in characters that latin1 text can hold. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { latin1Json } from "../../../src/wire/json/json.ts";
import { svcJson } from "../../../src/wire/svc.ts";
import { anyCharacter } from "../../support/characters.ts";

const text = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom("ep_a:b/c.d-e@f", 'a"b', "a\\b", "é", "a\n"),
);
const amount = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const line = fc.record(
  {
    kind: fc.constantFrom("input", "cache_read", "output"),
    units: amount,
    unit_price_nano: amount,
    micro_usd: amount,
  },
  { noNullPrototype: true },
);

test("svcJson writes what latin1Json would", () => {
  fc.assert(
    fc.property(
      text,
      text,
      text,
      amount,
      fc.array(line, { maxLength: 4 }),
      fc.array(text, { maxLength: 3 }),
      (provider, endpoint, version, total, lines, warnings) => {
        const svc = {
          request_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
          provider,
          endpoint_id: endpoint,
          cost: { total_micro_usd: total, lines: lines as never, price_version: version },
          warnings,
        };
        expect(svcJson(svc)).toBe(latin1Json(svc));
      },
    ),
  );
});
